package firstlight.protocol;

/**
 * A request was not admitted: it cost nothing, and was told when to come again.
 *
 * @param domain who refused: EDGE or BATCHER
 * @param code a stable word
 * @param promptTokens as counted before; 0: it was refused before that
 * @param outputMax most tokens it might have had as an answer; 0: not known
 */
public record RefusedAdmission(
    String request,
    String response,
    String dialect,
    String model,
    FailureDomain domain,
    String code,
    int promptTokens,
    int outputMax,
    long retryAfterMillis,
    int httpStatus)
    implements EventBody {}
