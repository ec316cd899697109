package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;

/**
 * Answers what is not HTTP, or too long a head of it. Nothing after it can be read, so its
 * connection ends, and the answer says so: a client that kept it would lose its next request.
 */
final class UnreadableRequests {
  private final int headerBytesMax;
  private final EdgeMetrics metrics;

  UnreadableRequests(EdgeConfig config, EdgeMetrics metrics) {
    this.headerBytesMax = config.limits().headerBytesMax();
    this.metrics = metrics;
  }

  void answer(HttpServerRequest request) {
    Throwable cause = request.decoderResult().cause();
    int status =
        switch (cause) {
          case TooLongHttpLineException _ -> 414;
          case TooLongHttpHeaderException _ -> 431;
          default -> 400;
        };
    String message =
        switch (status) {
          case 414 -> "The request line is too long.";
          case 431 -> "All headers together may have %d bytes.".formatted(headerBytesMax);
          default -> "This is not a request of HTTP/1.1.";
        };
    Buffer body =
        Json.bytes(
            Errors.body(new MeshException(FailureKind.INVALID_REQUEST, "invalid_http", message)));
    metrics.answered("other", status);
    request
        .response()
        .setStatusCode(status)
        .putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
        .putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE)
        .end(body)
        .onComplete(_ -> request.connection().close());
  }
}
