package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A WebSocket by hand: it can send what a library would not. */
final class WebSocketClient implements AutoCloseable {
  static final int CONTINUATION = 0;
  static final int TEXT = 1;
  static final int BINARY = 2;
  static final int PING = 9;
  static final int PONG = 10;
  private static final int CLOSE = 8;
  private static final int FINAL = 0x80;
  private static final int MASKED = 0x80;
  private static final byte[] MASK = {1, 2, 3, 4};
  private static final int TIMEOUT_MILLIS = 30_000;

  final Socket socket = new Socket();
  private final Json json;
  private final DataInputStream in;
  private final List<byte[]> pongs = new ArrayList<>();
  private int pings;
  private boolean mute;
  private int largestFrame;

  /** The peer has closed the connection, or it is gone (code 1006). */
  static final class Closed extends RuntimeException {
    private static final long serialVersionUID = 1;

    final int code;

    Closed(int code) {
      super("closed with " + code);
      this.code = code;
    }
  }

  WebSocketClient(ResponsesServer server, String... headers) throws IOException {
    this(server.port(), server.json, 64 << 10, headers);
  }

  WebSocketClient(int port, Json json, int receiveBufferBytes, String... headers)
      throws IOException {
    this.json = json;
    socket.setReceiveBufferSize(receiveBufferBytes);
    socket.connect(new InetSocketAddress("127.0.0.1", port));
    socket.setSoTimeout(TIMEOUT_MILLIS);
    in = new DataInputStream(socket.getInputStream());
    StringBuilder head =
        new StringBuilder(
            "GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
    for (String header : headers) {
      head.append(header).append("\r\n");
    }
    socket.getOutputStream().write(head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
    String answer = head();
    if (!answer.startsWith("HTTP/1.1 101 ")) {
      throw new IOException(answer);
    }
  }

  /** Sends {@code response.create} with these fields. */
  void create(String fields) throws IOException {
    send("{'type':'response.create','model':'m'," + fields + "}");
  }

  void send(String message) throws IOException {
    frame(TEXT, true, ResponsesServer.quoted(message).getBytes(StandardCharsets.UTF_8));
  }

  void frame(int type, boolean last, byte[] payload) throws IOException {
    frame(type, last, payload, true);
  }

  void frame(int type, boolean last, byte[] payload, boolean masked) throws IOException {
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.write(type | (last ? FINAL : 0));
    int mark = masked ? MASKED : 0;
    if (payload.length < 126) {
      frame.write(mark | payload.length);
    } else if (payload.length < 1 << 16) {
      frame.write(mark | 126);
      frame.write(payload.length >> 8);
      frame.write(payload.length);
    } else {
      frame.write(mark | 127);
      for (int shift = 56; shift >= 0; shift -= 8) {
        frame.write((int) ((long) payload.length >> shift));
      }
    }
    if (masked) {
      frame.writeBytes(MASK);
    }
    for (int i = 0; i < payload.length; i++) {
      frame.write(masked ? payload[i] ^ MASK[i % MASK.length] : payload[i]);
    }
    socket.getOutputStream().write(frame.toByteArray());
  }

  /** The next message. Pings are answered, pongs noted. */
  ObjectNode next() throws IOException {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    while (true) {
      int first = in.read();
      if (first < 0) {
        throw new Closed(1006);
      }
      byte[] payload = in.readNBytes(length(in.readUnsignedByte()));
      largestFrame = Math.max(largestFrame, payload.length);
      switch (first & 0x0f) {
        case PING -> {
          pings++;
          if (!mute) {
            frame(PONG, true, payload);
          }
        }
        case PONG -> pongs.add(payload);
        case CLOSE -> throw new Closed((payload[0] & 0xff) << 8 | payload[1] & 0xff);
        default -> {
          message.writeBytes(payload);
          if ((first & FINAL) != 0) {
            return json.object(Buffer.buffer(message.toByteArray()));
          }
        }
      }
    }
  }

  /** All messages up to one that ends a response. */
  List<ObjectNode> response() throws IOException {
    List<ObjectNode> events = new ArrayList<>();
    while (true) {
      ObjectNode event = next();
      events.add(event);
      String type = event.get("type").textValue();
      boolean alone = type.equals("error") && events.size() == 1;
      if (alone
          || type.equals("response.completed")
          || type.equals("response.incomplete")
          || type.equals("response.failed")) {
        return events;
      }
    }
  }

  /** The code with which the connection is closed after all that still comes. */
  int closeCode() throws IOException {
    try {
      while (true) {
        next();
      }
    } catch (Closed closed) {
      return closed.code;
    }
  }

  /** Pings are answered no more. */
  void mute() {
    mute = true;
  }

  List<byte[]> pongs() {
    return pongs;
  }

  int pings() {
    return pings;
  }

  /** Bytes of the largest frame that came. */
  int largestFrame() {
    return largestFrame;
  }

  /** Goes without a word, as a machine that is switched off. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private int length(int second) throws IOException {
    return switch (second & 0x7f) {
      case 126 -> in.readUnsignedShort();
      case 127 -> (int) in.readLong();
      default -> second & 0x7f;
    };
  }

  private String head() throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("no answer: " + head);
      }
      head.append((char) next);
    }
    return head.toString();
  }
}
