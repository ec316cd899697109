package firstlight.protocol;

/**
 * Asks not to show an Item any longer; the answer is {@link ConversationFound}.
 *
 * @param item its id
 */
public record RemoveItem(TenantId tenant, ConversationId conversation, String item)
    implements ToConversation {}
