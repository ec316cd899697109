package firstlight.protocol;

/**
 * Asks for a new, empty conversation; the answer is {@link ConversationFound}. Asking again changes
 * nothing.
 *
 * @param created Unix time, ms
 * @param metadata a JSON object
 */
public record CreateConversation(
    TenantId tenant, ConversationId conversation, long created, String metadata)
    implements ToConversation {}
