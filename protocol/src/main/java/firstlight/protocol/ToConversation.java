package firstlight.protocol;

/**
 * Asks about one conversation. Without one of that tenant and id the answer is a failure of kind
 * {@link FailureKind#NOT_FOUND} with the code {@code conversation_not_found}.
 */
public sealed interface ToConversation extends ToSession
    permits CreateConversation,
        FindConversation,
        ChangeConversation,
        DeleteConversation,
        AppendItems,
        RemoveItem {
  TenantId tenant();

  ConversationId conversation();
}
