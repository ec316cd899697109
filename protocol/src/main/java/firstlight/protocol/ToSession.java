package firstlight.protocol;

/** Received by a session verticle. */
public sealed interface ToSession extends MeshMessage
    permits FindHistory, StoreTurn, DeleteTurn, NoteFeedback, ToConversation {}
