package firstlight.protocol;

import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import org.jspecify.annotations.Nullable;

/**
 * A failure that a client may be told of. Its message is written for the client: no path, class
 * name or address of ours stands in it.
 */
public final class MeshException extends RuntimeException {
  private final FailureKind kind;
  private final String code;
  private final @Nullable String param;
  private final long retryAfterMillis;

  public MeshException(FailureKind kind, String code, String message) {
    this(kind, code, message, null, 0);
  }

  /**
   * @param code a stable word for programs, e.g. context_length_exceeded
   * @param param the field of the request that is at fault
   * @param retryAfterMillis when to try again; 0: unknown
   */
  public MeshException(
      FailureKind kind,
      String code,
      String message,
      @Nullable String param,
      long retryAfterMillis) {
    super(message, null, false, false);
    this.kind = kind;
    this.code = code;
    this.param = param;
    this.retryAfterMillis = retryAfterMillis;
  }

  public static MeshException invalid(String message, @Nullable String param) {
    return new MeshException(FailureKind.INVALID_REQUEST, "invalid_value", message, param, 0);
  }

  public FailureKind kind() {
    return kind;
  }

  public String code() {
    return code;
  }

  public @Nullable String param() {
    return param;
  }

  public long retryAfterMillis() {
    return retryAfterMillis;
  }

  /** The form in which it crosses the event bus: code, retry time and message, a line each. */
  public ReplyException toReply() {
    return new ReplyException(
        ReplyFailure.RECIPIENT_FAILURE,
        kind.ordinal(),
        code + "\n" + retryAfterMillis + "\n" + getMessage());
  }

  /** Back from the event bus. Whatever else can go wrong there means that the receiver is away. */
  public static MeshException fromReply(Throwable failure) {
    if (failure instanceof MeshException known) {
      return known;
    }
    if (failure instanceof ReplyException reply
        && reply.failureType() == ReplyFailure.RECIPIENT_FAILURE
        && reply.failureCode() >= 0
        && reply.failureCode() < FailureKind.values().length) {
      String[] parts = String.valueOf(reply.getMessage()).split("\n", 3);
      if (parts.length == 3 && parts[1].matches("\\d{1,15}")) {
        return new MeshException(
            FailureKind.values()[reply.failureCode()],
            parts[0],
            parts[2],
            null,
            Long.parseLong(parts[1]));
      }
    }
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "service_unavailable",
        "A part of the service is not there. Try again.");
  }
}
