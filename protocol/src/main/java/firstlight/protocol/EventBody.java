package firstlight.protocol;

/** What an {@link Event} is about. */
public sealed interface EventBody
    permits FinishedResponse, CalledTool, SeenFailure, RefusedAdmission, GivenFeedback {}
