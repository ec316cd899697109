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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JSON bodies of requests: bounded in size and time, one by one and all together; large
 * ones are parsed off the event loop.
 *
 * <p>One that is refused is read on for a while, as far as the client sends it without a pause, and
 * forgotten: a client that meets a closed connection while it sends never sees the answer.
 */
final class Bodies {
  private static final int LARGE_BYTES = 64 << 10;
  private static final int LENGTH_DIGITS_MAX = 18;
  private static final long RETRY_MILLIS = 1_000;

  /** A client that has sent nothing for so long waits for the answer. */
  private static final long SILENCE_MILLIS = 200;

  /** How much of a body that is refused is read, as a multiple of what is allowed. */
  private static final long FORGOTTEN_FACTOR = 2;

  private final Vertx vertx;
  private final EdgeConfig config;
  private final Json json;
  private final EdgeTotals totals;
  private long held;

  Bodies(Vertx vertx, EdgeConfig config, Json json) {
    this.vertx = vertx;
    this.config = config;
    this.json = json;
    this.totals = EdgeTotals.of(vertx);
  }

  /** One body on its way in; counts what it holds until that is given back. */
  private final class Arriving {
    private final Promise<Buffer> whole = Promise.promise();
    private Buffer bytes = Buffer.buffer();
    private @Nullable MeshException refusal;
    private long forgotten;
    private long silence = -1;

    private void add(Buffer piece) {
      if (whole.future().isComplete()) {
        return;
      }
      if (refusal != null) {
        forget(piece);
      } else if (bytes.length() + piece.length() > config.limits().bodyBytesMax()) {
        refuse(Json.tooLarge(config.limits().bodyBytesMax()));
      } else if (held + piece.length() > config.limits().bodiesBytesMax()) {
        refuse(full());
      } else {
        hold(piece.length());
        bytes.appendBuffer(piece);
      }
    }

    /** To be told when the client has sent all, or pauses. */
    private void refuse(MeshException why) {
      refusal = why;
      giveBack();
      listenOn();
    }

    private void forget(Buffer piece) {
      forgotten += piece.length();
      if (forgotten > FORGOTTEN_FACTOR * config.limits().bodyBytesMax()) {
        end();
      } else {
        listenOn();
      }
    }

    private void listenOn() {
      vertx.cancelTimer(silence);
      silence = vertx.setTimer(SILENCE_MILLIS, _ -> end());
    }

    /** No more of it comes, or no more is wanted. */
    private void end() {
      vertx.cancelTimer(silence);
      if (refusal == null) {
        whole.tryComplete(bytes);
      } else {
        whole.tryFail(refusal);
      }
    }

    private void giveBack() {
      hold(-bytes.length());
      bytes = Buffer.buffer();
    }
  }

  private void hold(int bytes) {
    held += bytes;
    totals.add(EdgeTotals.Count.BODY_BYTES, bytes);
  }

  /**
   * The body as a JSON object. To be called before anything asynchronous is done with the request;
   * fails with a {@link MeshException}.
   */
  Future<ObjectNode> object(RoutingContext http) {
    return read(http, object -> object);
  }

  /**
   * As {@link #object}, and what the reader makes of it.
   *
   * @param reader runs on a worker thread where the body is large
   */
  <T> Future<T> read(RoutingContext http, Function<ObjectNode, T> reader) {
    HttpServerRequest request = http.request();
    Arriving body = new Arriving();
    MeshException unfit = unfit(request);
    if (unfit != null) {
      body.refuse(unfit);
    }
    receive(request, body);
    return body.whole
        .future()
        .compose(bytes -> parsed(bytes, reader))
        .onComplete(_ -> body.giveBack());
  }

  private <T> Future<T> parsed(Buffer body, Function<ObjectNode, T> reader) {
    return body.length() <= LARGE_BYTES
        ? Future.succeededFuture(reader.apply(json.object(body)))
        : vertx.executeBlocking(() -> reader.apply(json.object(body)), false);
  }

  private void receive(HttpServerRequest request, Arriving body) {
    long timer =
        vertx.setTimer(
            config.times().bodyTimeout().toMillis(),
            _ -> body.whole.tryFail(invalid("body_timeout", "The body did not arrive in time.")));
    body.whole.future().onComplete(_ -> vertx.cancelTimer(timer));
    request.handler(body::add);
    request.exceptionHandler(
        _ -> body.whole.tryFail(invalid("body_broken", "The body is broken.")));
    request.endHandler(_ -> body.end());
    request.resume();
    if ("100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT))) {
      if (body.refusal == null) {
        request.response().writeContinue();
      } else {
        body.end();
      }
    }
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
    if (length != null
        && (length.length() > LENGTH_DIGITS_MAX
            || Long.parseLong(length) > config.limits().bodyBytesMax())) {
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

  private static MeshException full() {
    return new MeshException(
        FailureKind.OVERLOADED,
        "bodies_exceeded",
        "The service is reading as much as it can. Try again.",
        null,
        RETRY_MILLIS);
  }
}
