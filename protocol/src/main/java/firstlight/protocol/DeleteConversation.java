package firstlight.protocol;

/** Asks to forget a conversation and its Items; the answer is {@link ConversationDeleted}. */
public record DeleteConversation(TenantId tenant, ConversationId conversation)
    implements ToConversation {}
