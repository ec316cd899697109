package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** A WebSocket whose client breaks the rules of frames, of messages, or of what may be asked. */
final class HostileSocket extends HostileInput {
  private static final String HANDSHAKE =
      "GET /v1/responses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test-key-a\r\n"
          + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  private static final ObjectNode CREATE =
      Client.object(
          """
          {"type":"response.create","model":"smollm2-135m","input":[{"type":"message",
           "role":"user","content":[{"type":"input_text","text":"hello"}]}],
           "max_output_tokens":2,"store":false,"temperature":1,"text":{"format":{"type":"text"}},
           "tools":[{"type":"function","name":"f"}],"tool_choice":"auto","generate":true}\
          """);
  private static final List<String> MESSAGES =
      List.of(
          "",
          "{}",
          "[]",
          "null",
          "{\"type\":1}",
          "{\"type\":\"response.create\"}",
          "{\"type\":\"response.create\",\"response\":{}}",
          "{\"type\":\"response.create\",\"model\":\"smollm2-135m\",\"input\":\"x\","
              + "\"previous_response_id\":\"resp_none\"}",
          "{\"type\":\"response.create\",\"model\":\"smollm2-135m\",\"input\":\"x\","
              + "\"stream_id\":\"s\",\"background\":true}",
          "{\"type\":\"response.resume\",\"response_id\":\"resp_none\",\"starting_after\":1}",
          "{\"type\":\"response.resume\",\"response_id\":7,\"starting_after\":-1}",
          "{\"type\":\"response.cancel\",\"response_id\":\"../x\"}",
          "{\"type\":\"feedback\",\"value\":{}}",
          "{\"a\":".repeat(3_000),
          "[".repeat(100_000),
          "\ufeff{}",
          "{\"type\":\"" + "x".repeat(70_000) + "\"}");

  private static final int CONTINUATION = 0;
  private static final int TEXT = 1;
  private static final int BINARY = 2;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int PONG = 10;
  private static final int FINAL = 0x80;
  private static final int MASKED = 0x80;

  /** With which the server may close; what it was closed with it sends back. */
  private static final Set<Integer> CODES = Set.of(1000, 1001, 1002, 1003, 1007, 1008, 1009);

  private final URI address;
  private final ObjectNode resume;
  private final SplittableRandom random;
  private final HostileBodies bodies;
  private final Act act;

  /** Few enough requests that another one finds a place, whose answer is waited for. */
  private final boolean mayWait;

  private int ownCode = -1;
  private boolean unfinished;

  private enum Act {
    REQUESTS,
    MESSAGE,
    NOT_UTF_8,
    BINARY_MESSAGE,
    FRAGMENTS,
    INTERRUPTED,
    LOST_CONTINUATION,
    PINGS,
    BAD_CONTROL,
    RESERVED_BITS,
    RESERVED_OPCODE,
    UNMASKED,
    LENGTH,
    HUGE,
    CLOSE_CODE,
    HANDSHAKE,
    NOISE
  }

  HostileSocket(URI address, HostileRoutes routes, SplittableRandom random) {
    Act act =
        random.nextInt(4) == 0 ? Act.REQUESTS : Act.values()[random.nextInt(Act.values().length)];
    super(act);
    this.address = address;
    this.resume =
        Client.object("{\"type\":\"response.resume\",\"starting_after\":1}")
            .put("response_id", routes.response());
    this.random = random;
    this.bodies = new HostileBodies(random);
    this.act = act;
    this.mayWait = random.nextBoolean();
  }

  @Override
  void send() throws Exception {
    try (Wire wire = new Wire(address)) {
      if (act == Act.HANDSHAKE) {
        wire.send(noted(bodies.damaged(HANDSHAKE.getBytes(StandardCharsets.ISO_8859_1))));
        wire.halfClose();
        heard = wire.untilGone();
        checkAnswers();
        return;
      }
      wire.send(HANDSHAKE.getBytes(StandardCharsets.ISO_8859_1));
      wire.await("\r\n\r\n");
      try {
        if (random.nextInt(3) == 0) {
          wire.send(noted(request()));
        }
        wire.send(noted(frames()));
        if (act == Act.REQUESTS && mayWait) {
          wire.send(noted(text(CREATE.toString())));
          heard = wire.await("response.output_item.done");
        }
        if (end(wire)) {
          return;
        }
      } catch (SocketTimeoutException e) {
        throw e;
      } catch (IOException _) {
        // Closed while there was more to send.
      }
      heard += wire.untilGone();
    }
    check();
  }

  /** Whether it has gone without a word. */
  private boolean end(Wire wire) throws IOException {
    int way = random.nextInt(4);
    if (way == 0) {
      wire.reset();
    } else if (way == 1 || unfinished) {
      wire.halfClose();
    } else {
      wire.send(noted(close(1000, "")));
    }
    return way == 0;
  }

  private byte[] frames() {
    return switch (act) {
      case REQUESTS -> joined(1 + random.nextInt(mayWait ? 12 : 40), this::request);
      case MESSAGE -> text(MESSAGES.get(random.nextInt(MESSAGES.size())));
      case NOT_UTF_8 -> frame(FINAL | TEXT, new byte[] {'"', (byte) 0xc3, '"', (byte) 0xff});
      case BINARY_MESSAGE -> frame(FINAL | BINARY, noise(50));
      case FRAGMENTS -> fragments(false);
      case INTERRUPTED -> fragments(true);
      case LOST_CONTINUATION -> frame(FINAL | CONTINUATION, noise(50));
      case PINGS ->
          joined(300, () -> frame(FINAL | (random.nextBoolean() ? PING : PONG), noise(125)));
      case BAD_CONTROL ->
          random.nextBoolean()
              ? frame(PING, noise(20))
              : frame(FINAL | (random.nextBoolean() ? PING : CLOSE), new byte[126]);
      case RESERVED_BITS -> frame(FINAL | 1 + random.nextInt(7) << 4 | TEXT, noise(20));
      case RESERVED_OPCODE -> frame(FINAL | 3 + random.nextInt(5), noise(20));
      case UNMASKED -> new byte[] {(byte) (FINAL | TEXT), 2, '{', '}'};
      case LENGTH -> length();
      case HUGE -> joined(1 + random.nextInt(3), () -> frame(FINAL | TEXT, new byte[200_000]));
      case CLOSE_CODE -> closing();
      case NOISE -> unfinished(noise(300));
      case HANDSHAKE -> throw new IllegalStateException("no frames");
    };
  }

  private byte[] request() {
    ObjectNode good = random.nextInt(4) == 0 ? resume : CREATE;
    return random.nextInt(3) == 0 ? text(good.toString()) : frame(FINAL | TEXT, bodies.next(good));
  }

  private byte[] text(String message) {
    return frame(FINAL | TEXT, message.getBytes(StandardCharsets.UTF_8));
  }

  /** A message in pieces, with control frames or a second message between them. */
  private byte[] fragments(boolean interrupted) {
    byte[] message = CREATE.toString().getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream frames = new ByteArrayOutputStream();
    int from = 0;
    while (from < message.length) {
      int to = Math.min(message.length, from + random.nextInt(200));
      int type = from == 0 && frames.size() == 0 ? TEXT : CONTINUATION;
      int last = to == message.length && !interrupted ? FINAL : 0;
      frames.writeBytes(frame(type | last, Arrays.copyOfRange(message, from, to)));
      if (random.nextInt(3) == 0) {
        frames.writeBytes(frame(FINAL | PING, noise(125)));
      }
      if (interrupted && random.nextInt(4) == 0) {
        frames.writeBytes(text("{}"));
      }
      from = to;
    }
    return frames.toByteArray();
  }

  /** Lengths that are not there, negative, or in more bytes than needed. */
  private byte[] length() {
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.write(FINAL | TEXT);
    switch (random.nextInt(4)) {
      case 0 -> frame.writeBytes(new byte[] {(byte) (MASKED | 126), 0, 5});
      case 1 -> frame.writeBytes(new byte[] {(byte) (MASKED | 127), -1, 0, 0, 0, 0, 0, 0, 5});
      case 2 -> frame.writeBytes(new byte[] {(byte) (MASKED | 127), 127, 0, 0, 0, 0, 0, 0, 5});
      default -> frame.writeBytes(new byte[] {(byte) (MASKED | 127), 0, 0, 0, 0, 0, 3, 0, 0});
    }
    frame.writeBytes(noise(40));
    return unfinished(frame.toByteArray());
  }

  private byte[] unfinished(byte[] bytes) {
    unfinished = true;
    return bytes;
  }

  private byte[] closing() {
    int[] codes = {0, 999, 1000, 1001, 1005, 1006, 1011, 1015, 2999, 3000, 4999, 65_535};
    return switch (random.nextInt(4)) {
      case 0 -> frame(FINAL | CLOSE, new byte[0]);
      case 1 -> frame(FINAL | CLOSE, new byte[] {3});
      case 2 -> frame(FINAL | CLOSE, new byte[] {3, (byte) 0xe8, (byte) 0xff, (byte) 0xc3});
      default -> close(codes[random.nextInt(codes.length)], "x".repeat(random.nextInt(123)));
    };
  }

  private byte[] close(int code, String reason) {
    ownCode = ownCode < 0 ? code : ownCode;
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    payload.write(code >> 8);
    payload.write(code);
    payload.writeBytes(reason.getBytes(StandardCharsets.UTF_8));
    return frame(FINAL | CLOSE, payload.toByteArray());
  }

  private byte[] frame(int first, byte[] payload) {
    byte[] mask = new byte[4];
    random.nextBytes(mask);
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.write(first);
    if (payload.length < 126) {
      frame.write(MASKED | payload.length);
    } else if (payload.length < 1 << 16) {
      frame.write(MASKED | 126);
      frame.write(payload.length >> 8);
      frame.write(payload.length);
    } else {
      frame.write(MASKED | 127);
      frame.writeBytes(new byte[5]);
      frame.write(payload.length >> 16);
      frame.write(payload.length >> 8);
      frame.write(payload.length);
    }
    frame.writeBytes(mask);
    for (int i = 0; i < payload.length; i++) {
      frame.write(payload[i] ^ mask[i % mask.length]);
    }
    return frame.toByteArray();
  }

  private byte[] noise(int max) {
    byte[] noise = new byte[random.nextInt(max + 1)];
    random.nextBytes(noise);
    return noise;
  }

  private interface Frames {
    byte[] next();
  }

  private static byte[] joined(int count, Frames frames) {
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      joined.writeBytes(frames.next());
    }
    return joined.toByteArray();
  }

  /** Reads the server's frames: its messages have no mistakes of its own, its codes are known. */
  private void check() {
    byte[] bytes = heard.getBytes(StandardCharsets.ISO_8859_1);
    ByteArrayOutputStream texts = new ByteArrayOutputStream();
    int at = 0;
    while (at + 2 <= bytes.length) {
      int opcode = bytes[at] & 0x0f;
      int length = bytes[at + 1] & 0x7f;
      at += 2;
      if (length == 126) {
        length = (bytes[at] & 0xff) << 8 | bytes[at + 1] & 0xff;
        at += 2;
      }
      assertThat(length).as("our frames are short").isLessThan(1 << 16);
      int end = Math.min(bytes.length, at + length);
      if (opcode == CLOSE && length >= 2) {
        int code = (bytes[at] & 0xff) << 8 | bytes[at + 1] & 0xff;
        assertThat(CODES.contains(code) || code == ownCode || act == Act.NOISE)
            .as("closed with %d", code)
            .isTrue();
      }
      texts.write(bytes, at, opcode <= TEXT ? end - at : 0);
      at = end;
    }
    String said = texts.toString(StandardCharsets.UTF_8);
    assertThat(said).doesNotContain(MISTAKE).doesNotContainPattern("\"status\":5(?!03)");
  }
}
