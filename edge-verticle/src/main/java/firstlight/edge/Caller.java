package firstlight.edge;

import firstlight.protocol.TenantId;
import io.vertx.ext.web.RoutingContext;

/**
 * Who makes a request, and the id by which its operator finds it in the logs.
 *
 * @param requestId also sent to the client as {@code x-request-id}
 * @param firstTokenMillis as in {@link Urgency}
 */
record Caller(TenantId tenant, String requestId, long firstTokenMillis) {
  private static final String KEY = Caller.class.getName();

  /** The caller of a request that has passed {@link Keys}. */
  static Caller of(RoutingContext request) {
    Caller caller = request.get(KEY);
    if (caller == null) {
      throw new IllegalStateException("a route was reached without a look at the key");
    }
    return caller;
  }

  void keepIn(RoutingContext request) {
    request.put(KEY, this);
  }
}
