package firstlight.protocol;

/**
 * Asks for a stored Response and all it builds on; the answer is {@link History}, or a failure of
 * kind {@link FailureKind#NOT_FOUND} with the code {@code previous_response_not_found}.
 */
public record FindHistory(TenantId tenant, ResponseId response) implements ToSession {}
