package firstlight.protocol;

/**
 * A request has failed.
 *
 * @param response empty when it failed before it had one
 * @param dialect the dialect, or the route where there is none
 * @param replica empty where none had to do with it
 * @param message as the client was told; empty where no text is kept
 */
public record SeenFailure(
    String request,
    String response,
    String dialect,
    String model,
    String replica,
    FailureDomain domain,
    FailureKind kind,
    String code,
    String message,
    int httpStatus,
    long retryAfterMillis)
    implements EventBody {}
