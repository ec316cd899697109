package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.protocol.Time;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrame;
import org.jspecify.annotations.Nullable;

/**
 * The wire of one WebSocket: whole messages in, JSON out in frames of bounded size, and the rules
 * for a peer that is slow, silent or wrong. Nothing more is read while the peer does not read what
 * it is sent, so the bytes that wait for it are bounded.
 */
final class WebSocketLine {
  /** In characters, of which each has at most three bytes of UTF-8: under 48 KiB a frame. */
  private static final int FRAME_CHARACTERS_MAX = 16_000;

  private static final short STALLED = 1008;
  private static final short SILENT = 1001;
  private static final Buffer PING = Buffer.buffer("firstlight");

  private final Vertx vertx;
  private final Time time;
  private final WebSocketLimits limits;
  private final HttpConnection connection;
  private final ServerWebSocket socket;
  private final Listener listener;
  private final WebSocketMessages messages;
  private final long pingTimer;
  private @Nullable Long stallTimer;
  private long heardNanos;
  private boolean held;
  private boolean closed;

  /** Hears of one connection, on the verticle's event loop. */
  interface Listener {
    void message(Buffer text);

    /** The peer reads slowly: more than a few bytes wait for it. */
    void full();

    /** The peer has caught up. */
    void drained();

    /** Once; nothing can be sent any more. */
    void closed();
  }

  /**
   * Fails when the peer has gone already.
   *
   * @param connection that became the socket
   */
  WebSocketLine(
      Vertx vertx,
      Time time,
      WebSocketLimits limits,
      HttpConnection connection,
      ServerWebSocket socket,
      Listener listener) {
    this.vertx = vertx;
    this.time = time;
    this.limits = limits;
    this.connection = connection;
    this.socket = socket;
    this.listener = listener;
    this.messages = new WebSocketMessages(limits.messageBytesMax());
    this.heardNanos = time.nanos();
    socket.setWriteQueueMaxSize(limits.writeQueueBytes());
    socket.frameHandler(this::frame);
    socket.pongHandler(_ -> heard());
    socket.drainHandler(_ -> drained());
    // Both may come, in any order, and the one without the other.
    socket.closeHandler(_ -> gone());
    socket.exceptionHandler(this::broken);
    this.pingTimer = vertx.setPeriodic(limits.ping().toMillis(), _ -> ping());
  }

  /** Sends one message; nothing happens when the connection has gone. */
  void send(JsonNode message) {
    if (socket.isClosed()) {
      gone();
    }
    String text = Json.text(message);
    int from = 0;
    while (from < text.length() && !closed) {
      int to = frameEnd(text, from);
      String piece = text.substring(from, to);
      boolean last = to == text.length();
      socket.writeFrame(
          from == 0
              ? WebSocketFrame.textFrame(piece, last)
              : WebSocketFrame.continuationFrame(Buffer.buffer(piece), last));
      from = to;
    }
    if (!closed && socket.writeQueueFull() && stallTimer == null) {
      stallTimer = vertx.setTimer(limits.stall().toMillis(), _ -> close(STALLED, "stalled"));
      steerReading();
      listener.full();
    }
  }

  /** Whether more than a few bytes wait for the peer. */
  boolean isFull() {
    return stallTimer != null;
  }

  /** While it is held, no message comes. */
  void hold(boolean held) {
    this.held = held;
    steerReading();
  }

  /** Ends the connection; what runs for it is stopped at once, not when the peer agrees. */
  void close(short code, String reason) {
    if (!closed) {
      gone();
      socket.close(code, reason);
      Hangup.whenStuck(vertx, connection, limits.closing());
    }
  }

  private void frame(WebSocketFrame frame) {
    heard();
    if (closed) {
      return;
    }
    switch (messages.next(frame)) {
      case WebSocketMessages.Unfinished() -> {}
      case WebSocketMessages.Message(Buffer text) -> listener.message(text);
      case WebSocketMessages.Violation(short code, String reason) -> close(code, reason);
    }
  }

  // A frame that breaks the protocol; the server ends the connection right after this.
  private void broken(Throwable failure) {
    if (failure instanceof CorruptedWebSocketFrameException violation) {
      close((short) violation.closeStatus().code(), "a frame breaks the protocol");
    } else {
      gone();
    }
  }

  private void heard() {
    heardNanos = time.nanos();
  }

  // A peer that reads too slowly to see a ping is the stall timer's business.
  private void ping() {
    if (isFull()) {
      heard();
    } else if (time.nanos() - heardNanos > limits.silence().toNanos()) {
      close(SILENT, "silent");
    } else {
      socket.writePing(PING);
    }
  }

  private void drained() {
    if (stallTimer != null && !closed) {
      vertx.cancelTimer(stallTimer);
      stallTimer = null;
      steerReading();
      listener.drained();
    }
  }

  private void steerReading() {
    if (closed || socket.isClosed()) {
      return;
    }
    if (held || isFull()) {
      socket.pause();
    } else {
      socket.resume();
    }
  }

  private void gone() {
    if (closed) {
      return;
    }
    closed = true;
    vertx.cancelTimer(pingTimer);
    if (stallTimer != null) {
      vertx.cancelTimer(stallTimer);
    }
    listener.closed();
  }

  private static int frameEnd(String text, int from) {
    int to = Math.min(text.length(), from + FRAME_CHARACTERS_MAX);
    return to < text.length() && Character.isHighSurrogate(text.charAt(to - 1)) ? to - 1 : to;
  }
}
