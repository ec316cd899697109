package firstlight.protocol;

/** Asks for a conversation as it is now; the answer is {@link ConversationFound}. */
public record FindConversation(TenantId tenant, ConversationId conversation)
    implements ToConversation {}
