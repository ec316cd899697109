package firstlight.protocol;

/** The conversation as it is now. */
public record ConversationFound(StoredConversation conversation) implements FromSession {}
