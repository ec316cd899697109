package firstlight.protocol;

/**
 * Asks for other metadata; the answer is {@link ConversationFound}.
 *
 * @param metadata a JSON object, instead of what was there
 */
public record ChangeConversation(TenantId tenant, ConversationId conversation, String metadata)
    implements ToConversation {}
