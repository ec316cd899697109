package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;

/** Answers in one piece. */
final class Reply {
  private Reply() {}

  /** Sends JSON; nothing happens when the client has gone. */
  static void json(RoutingContext request, int status, JsonNode body) {
    HttpServerResponse response = request.response();
    if (!response.ended() && !response.closed() && !response.headWritten()) {
      response
          .setStatusCode(status)
          .putHeader("Content-Type", "application/json")
          .end(Json.bytes(body));
    }
  }

  /**
   * Runs the action once the client has left before its answer was complete: it closed or lost its
   * connection, or reset its HTTP/2 stream. A later {@link SseStream} takes over.
   */
  static void whenGone(RoutingContext request, Runnable action) {
    HttpServerResponse response = request.response();
    if (response.closed()) {
      action.run();
      return;
    }
    response.closeHandler(
        _ -> {
          if (!response.ended()) {
            action.run();
          }
        });
    response.exceptionHandler(_ -> action.run());
  }
}
