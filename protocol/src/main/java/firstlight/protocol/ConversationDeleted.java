package firstlight.protocol;

/** The conversation is gone, and its turns are gone from every tier. */
public record ConversationDeleted(ConversationId conversation) implements FromSession {}
