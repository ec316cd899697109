package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Priority;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.regex.Pattern;

/**
 * How soon a client wants its first token.
 *
 * @param firstTokenMillis the longest it waits, counted from when its request has been read; 0: as
 *     long as its tenant or the replica says
 */
record Urgency(Priority priority, long firstTokenMillis) {
  /** The field's own header for it, in whole milliseconds. */
  static final String HEADER = "x-llm-d-slo-ttft-ms";

  static final Urgency NORMAL = new Urgency(Priority.NORMAL, 0);

  private static final long MILLIS_MAX = 600_000;
  private static final Pattern MILLIS = Pattern.compile("[1-9][0-9]{0,5}");

  /**
   * What the request's header says; 0 without one.
   *
   * @throws MeshException the header is not a time from 1 to 600000, once
   */
  static long firstTokenMillis(HttpServerRequest request) {
    List<String> values = request.headers().getAll(HEADER);
    if (values.isEmpty()) {
      return 0;
    }
    String value = values.getFirst().trim();
    long millis = MILLIS.matcher(value).matches() ? Long.parseLong(value) : 0;
    if (values.size() > 1 || millis < 1 || millis > MILLIS_MAX) {
      throw new MeshException(
          FailureKind.INVALID_REQUEST,
          "invalid_value",
          "The header %s must be a whole number of milliseconds from 1 to %d, once."
              .formatted(HEADER, MILLIS_MAX),
          HEADER,
          0);
    }
    return millis;
  }
}
