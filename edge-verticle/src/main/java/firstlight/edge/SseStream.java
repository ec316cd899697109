package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import org.jspecify.annotations.Nullable;

/**
 * Writes server-sent events: one JSON object an event, LF line ends, a comment when the stream was
 * silent for a while. It slows its turn down when the client reads slowly, and cancels it when the
 * client leaves, or reads nothing for too long.
 *
 * <p>The head is sent with the first event, so make it when {@link TurnEvent.Started} comes and
 * begin at once.
 */
final class SseStream {
  private static final Buffer KEEP_ALIVE = Buffer.buffer(": keep-alive\n\n");
  private static final Buffer DONE = Buffer.buffer("data: [DONE]\n\n");

  private final Vertx vertx;
  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final TurnHandle turn;
  private final long stallMillis;
  private final long keepAliveTimer;
  private @Nullable Long stallTimer;
  private boolean wrote;
  private boolean closed;

  /**
   * Sends the head.
   *
   * @param turn is paused, resumed and, when the client leaves, cancelled
   */
  SseStream(Vertx vertx, HttpServerRequest request, EdgeConfig config, TurnHandle turn) {
    this.vertx = vertx;
    this.request = request;
    this.response = request.response();
    this.turn = turn;
    this.stallMillis = config.times().stallTimeout().toMillis();
    response
        .setChunked(true)
        .setWriteQueueMaxSize(config.limits().writeQueueBytes())
        .putHeader("Content-Type", "text/event-stream; charset=utf-8")
        .putHeader("Cache-Control", "no-cache")
        .putHeader("X-Accel-Buffering", "no");
    response.closeHandler(_ -> gone());
    response.exceptionHandler(_ -> gone());
    response.drainHandler(_ -> drained());
    long silence = Math.max(1, config.times().keepAlive().toMillis() / 2);
    this.keepAliveTimer = vertx.setPeriodic(silence, _ -> keepAlive());
    response.writeHead();
  }

  /** An event without a name. */
  void send(JsonNode data) {
    write(Buffer.buffer("data: ").appendBuffer(Json.bytes(data)).appendString("\n\n"));
  }

  /** An event with a name. */
  void send(String event, JsonNode data) {
    write(
        Buffer.buffer("event: ")
            .appendString(event)
            .appendString("\ndata: ")
            .appendBuffer(Json.bytes(data))
            .appendString("\n\n"));
  }

  /** The end as OpenAI's clients expect it: {@code data: [DONE]}, and the body ends. */
  void done() {
    write(DONE);
    end();
  }

  /** Ends the body. */
  void end() {
    if (!closed) {
      close();
      response.end();
    }
  }

  /** Whether nothing can be sent any more. */
  boolean closed() {
    return closed;
  }

  private void write(Buffer piece) {
    if (closed) {
      return;
    }
    wrote = true;
    response.write(piece);
    if (response.writeQueueFull() && stallTimer == null) {
      turn.pause();
      stallTimer = vertx.setTimer(stallMillis, _ -> stalled());
    }
  }

  private void drained() {
    if (stallTimer != null) {
      vertx.cancelTimer(stallTimer);
      stallTimer = null;
      turn.resume();
    }
  }

  // Two looks in one keep-alive interval: the silence is never longer than that interval.
  private void keepAlive() {
    if (!wrote && stallTimer == null) {
      response.write(KEEP_ALIVE);
    }
    wrote = false;
  }

  private void stalled() {
    gone();
    Hangup.reset(request);
  }

  private void gone() {
    if (!closed) {
      close();
      turn.cancel();
    }
  }

  private void close() {
    closed = true;
    vertx.cancelTimer(keepAliveTimer);
    if (stallTimer != null) {
      vertx.cancelTimer(stallTimer);
      stallTimer = null;
    }
  }
}
