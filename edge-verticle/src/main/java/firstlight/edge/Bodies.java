package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the JSON bodies of requests: bounded in size and time, large ones off the event loop. */
final class Bodies {
  private static final int LARGE_BYTES = 64 << 10;

  private final Vertx vertx;
  private final EdgeConfig config;
  private final Json json;

  Bodies(Vertx vertx, EdgeConfig config, Json json) {
    this.vertx = vertx;
    this.config = config;
    this.json = json;
  }

  /**
   * The body as a JSON object. To be called before anything asynchronous is done with the request;
   * fails with a {@link MeshException}.
   */
  Future<ObjectNode> object(RoutingContext request) {
    return bytes(request.request())
        .compose(
            body ->
                body.length() <= LARGE_BYTES
                    ? Future.succeededFuture(json.object(body))
                    : vertx.executeBlocking(() -> json.object(body), false));
  }

  private Future<Buffer> bytes(HttpServerRequest request) {
    MeshException unfit = unfit(request);
    if (unfit != null) {
      return Future.failedFuture(unfit);
    }
    Promise<Buffer> promise = Promise.promise();
    long timer =
        vertx.setTimer(
            config.times().bodyTimeout().toMillis(),
            _ -> promise.tryFail(invalid("body_timeout", "The body did not arrive in time.")));
    Buffer body = Buffer.buffer();
    int bytesMax = config.limits().bodyBytesMax();
    request.handler(
        piece -> {
          if (body.length() + piece.length() > bytesMax) {
            promise.tryFail(Json.tooLarge(bytesMax));
          } else {
            body.appendBuffer(piece);
          }
        });
    request.exceptionHandler(_ -> promise.tryFail(invalid("body_broken", "The body is broken.")));
    request.endHandler(_ -> promise.tryComplete(body));
    request.resume();
    if ("100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT))) {
      request.response().writeContinue();
    }
    return promise.future().onComplete(_ -> vertx.cancelTimer(timer));
  }

  private @Nullable MeshException unfit(HttpServerRequest request) {
    String encoding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
    if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
      return media("Compressed bodies are not accepted: send it without Content-Encoding.");
    }
    String type = String.valueOf(request.getHeader(HttpHeaders.CONTENT_TYPE));
    if (!type.split(";", 2)[0].trim().toLowerCase(Locale.ROOT).equals("application/json")) {
      return media("The body must be JSON: send it with Content-Type: application/json.");
    }
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    if (length != null && length.length() > 18
        || length != null && Long.parseLong(length) > config.limits().bodyBytesMax()) {
      return Json.tooLarge(config.limits().bodyBytesMax());
    }
    return null;
  }

  private static MeshException media(String message) {
    return new MeshException(FailureKind.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message);
  }

  private static MeshException invalid(String code, String message) {
    return new MeshException(FailureKind.INVALID_REQUEST, code, message);
  }
}
