package firstlight.protocol;

/** Answers of a session verticle. */
public sealed interface FromSession extends MeshMessage
    permits History,
        TurnStored,
        TurnDeleted,
        FeedbackNoted,
        ConversationFound,
        ConversationDeleted {}
