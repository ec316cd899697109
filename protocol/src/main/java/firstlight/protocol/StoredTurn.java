package firstlight.protocol;

import org.jspecify.annotations.Nullable;

/**
 * One Response with the Items it answered, as the session verticle keeps it. Append-only: a turn
 * never changes, so turns form a tree by their parents.
 *
 * @param parent the Response it builds on
 * @param created Unix time, ms
 * @param status completed, incomplete, failed or cancelled
 * @param input its new input Items: a JSON array
 * @param output its output Items: a JSON array
 * @param resource the whole Response as its client got it: a JSON object
 */
public record StoredTurn(
    ResponseId response,
    TenantId tenant,
    @Nullable ResponseId parent,
    String model,
    long created,
    String status,
    String input,
    String output,
    String resource,
    Usage usage) {
  public static final int JSON_BYTES_MAX = 16 << 20;

  public StoredTurn {
    if (input.length() + output.length() + resource.length() > JSON_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a turn has at most %d characters".formatted(JSON_BYTES_MAX));
    }
  }
}
