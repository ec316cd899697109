package firstlight.protocol;

/**
 * That the Items of a turn also become the newest of a conversation.
 *
 * @param turn id of the conversation's own copy
 */
public record ConversationAppend(ConversationId conversation, ResponseId turn) {}
