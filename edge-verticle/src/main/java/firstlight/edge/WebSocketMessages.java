package firstlight.edge;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.WebSocketFrame;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Joins the frames of text messages (RFC 6455, section 5.4). Text is checked only when its message
 * is whole, since a character may be split over frames.
 */
final class WebSocketMessages {
  static final short PROTOCOL_ERROR = 1002;
  static final short NOT_ACCEPTED = 1003;
  static final short NOT_TEXT = 1007;
  static final short TOO_BIG = 1009;

  private final int bytesMax;
  private Buffer parts = Buffer.buffer();
  private boolean open;

  /** What a frame leads to. */
  sealed interface Outcome {}

  /** Nothing yet. */
  record Unfinished() implements Outcome {}

  /** A whole message: valid UTF-8. */
  record Message(Buffer text) implements Outcome {}

  /** The connection is to be closed. */
  record Violation(short code, String reason) implements Outcome {}

  WebSocketMessages(int bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** The next frame, in order. */
  Outcome next(WebSocketFrame frame) {
    return switch (frame.type()) {
      case PING, PONG, CLOSE -> new Unfinished();
      case BINARY -> new Violation(NOT_ACCEPTED, "send text messages, not binary ones");
      case TEXT ->
          open ? new Violation(PROTOCOL_ERROR, "a message began inside a message") : append(frame);
      case CONTINUATION ->
          open ? append(frame) : new Violation(PROTOCOL_ERROR, "a continuation of no message");
    };
  }

  private Outcome append(WebSocketFrame frame) {
    Buffer bytes = frame.binaryData();
    if (parts.length() + bytes.length() > bytesMax) {
      return new Violation(TOO_BIG, "a message may have at most %d bytes".formatted(bytesMax));
    }
    parts.appendBuffer(bytes);
    open = !frame.isFinal();
    if (open) {
      return new Unfinished();
    }
    Buffer whole = parts;
    parts = Buffer.buffer();
    return isText(whole)
        ? new Message(whole)
        : new Violation(NOT_TEXT, "a text message is not UTF-8");
  }

  private static boolean isText(Buffer bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.getBytes()));
      return true;
    } catch (CharacterCodingException _) {
      return false;
    }
  }
}
