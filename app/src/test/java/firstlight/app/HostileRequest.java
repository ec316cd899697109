package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A request over HTTP, good or bad, sent as a good or a bad client does. */
final class HostileRequest extends HostileInput {
  private static final String END = "\r\n";

  /** Heads that are wrong in themselves, or ask for what is not there. */
  private static final List<String> HEADS =
      List.of(
          "GET /v1/../v1/models HTTP/1.1",
          "GET /v1/%2e%2e/v1/models HTTP/1.1",
          "GET //v1//models/ HTTP/1.1",
          "GET /v1/responses/%00 HTTP/1.1",
          "GET /v1/responses/%ff%fe HTTP/1.1",
          "GET /v1/responses/% HTTP/1.1",
          "GET /v1/conversations/%2e%2e%2f/items HTTP/1.1",
          "GET /v1/models/" + "x".repeat(3_000) + " HTTP/1.1",
          "GET /" + "x".repeat(9_000) + " HTTP/1.1",
          "FOO /v1/models HTTP/1.1",
          "CONNECT a:80 HTTP/1.1",
          "TRACE /v1/models HTTP/1.1",
          "GET http://a/v1/models HTTP/1.1",
          "OPTIONS * HTTP/1.1",
          "GET /v1/models HTTP/9.9",
          "GET /v1/models",
          "GET /v1/models HTTP/1.0",
          "POST /v1/feedback HTTP/1.1\r\nContent-Length: abc",
          "POST /v1/feedback HTTP/1.1\r\nContent-Length: -1",
          "POST /v1/feedback HTTP/1.1\r\nContent-Length: 999999999999999999",
          "POST /v1/feedback HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
          "POST /v1/feedback HTTP/1.1\r\nTransfer-Encoding: gzip",
          "POST /v1/feedback HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 2",
          "POST /v1/feedback HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 20",
          "POST /v1/feedback HTTP/1.1\r\nExpect: what\r\nContent-Length: 2",
          "POST /v1/embeddings HTTP/1.1\r\nContent-Length: 2",
          "GET /v1/models HTTP/1.1\r\nX: " + "y".repeat(40_000),
          "GET /v1/models HTTP/1.1" + "\r\nX: y".repeat(300),
          "GET /v1/models HTTP/1.1\r\nHost: b",
          "GET /v1/models HTTP/1.1\r\nx-request-id: \u00ff\u0001",
          "GET /v1/models HTTP/1.1\r\nx-llm-d-slo-ttft-ms: -1",
          "GET /v1/models HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: !\r\nConnection: Upgrade",
          "GET /v1/models HTTP/1.1\r\nX\u0000: y");

  private static final List<String> VALUES =
      List.of("-1", "", "99999999999999999999", "NaN", "%00", "%ff", "../x", "true&limit=2", "%");

  private final URI address;
  private final HostileRoutes routes;
  private final HostileLeftovers left;
  private final SplittableRandom random;
  private final HostileBodies bodies;
  private final Way way;

  private enum Way {
    WHOLE,
    BARE,
    CHUNKED,
    BAD_CHUNKS,
    CUT,
    PIECES,
    PIPELINED,
    LEFT_WHILE_ANSWERED,
    LEFT_OPEN,
    HEAD,
    HTTP_2
  }

  HostileRequest(
      URI address, HostileRoutes routes, HostileLeftovers left, SplittableRandom random) {
    Way way =
        random.nextInt(3) == 0 ? Way.WHOLE : Way.values()[random.nextInt(Way.values().length)];
    super(way);
    this.address = address;
    this.routes = routes;
    this.left = left;
    this.random = random;
    this.bodies = new HostileBodies(random);
    this.way = way;
  }

  @Override
  void send() throws Exception {
    switch (way) {
      case WHOLE -> mustAnswer(request("close"));
      case BARE -> mustAnswer(bare());
      case CHUNKED -> mustAnswer(chunked());
      case BAD_CHUNKS -> talk(bodies.damaged(chunked()), true);
      case CUT -> talk(start(request("close")), true);
      case PIECES -> mustAnswer(request("close"));
      case PIPELINED -> mustAnswer(joined(request("keep-alive"), request("close")));
      case LEFT_WHILE_ANSWERED -> leave(request("close"));
      case LEFT_OPEN -> left.add(open(random.nextBoolean() ? request("x") : start(request("x"))));
      case HEAD -> talk(head(), true);
      case HTTP_2 -> talk(http2(), true);
    }
    checkAnswers();
  }

  private void mustAnswer(byte[] bytes) throws IOException {
    talk(bytes, false);
    assertThat(heard).startsWith("HTTP/1.1 ");
  }

  /** Sends all, and hears the other side out. */
  private void talk(byte[] bytes, boolean halfClose) throws IOException {
    try (Wire wire = open(bytes)) {
      if (halfClose) {
        quietly(wire::halfClose);
      }
      heard = wire.untilGone();
    }
  }

  /** Goes after some of the answer. */
  private void leave(byte[] bytes) throws IOException {
    try (Wire wire = open(bytes)) {
      heard = wire.upTo(random.nextInt(1_000));
      if (random.nextBoolean()) {
        wire.reset();
      }
    }
  }

  private Wire open(byte[] bytes) throws IOException {
    noted(bytes);
    Wire wire = new Wire(address);
    int piece = way == Way.PIECES ? 1 + random.nextInt(40) : bytes.length;
    // Who is refused early may find that nothing can be sent any more.
    quietly(
        () -> {
          for (int from = 0; from < bytes.length; from += piece) {
            wire.send(Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + piece)));
          }
        });
    return wire;
  }

  private interface Sending {
    void send() throws IOException;
  }

  private static void quietly(Sending sending) {
    try {
      sending.send();
    } catch (IOException _) {
      // The other side has gone.
    }
  }

  private byte[] request(String connection) {
    HostileRoutes.Route route = routes.withBody(random);
    if (way == Way.LEFT_WHILE_ANSWERED || way == Way.LEFT_OPEN) {
      route.body().put("stream", true).remove(List.of("max_tokens", "max_output_tokens"));
    }
    byte[] body =
        random.nextInt(4) == 0
            ? route.body().toString().getBytes(StandardCharsets.UTF_8)
            : bodies.next(route.body());
    return joined(
        start(route.method() + " " + route.path(), connection, "Content-Length: " + body.length),
        body);
  }

  private byte[] bare() {
    String target = routes.bare(random);
    if (random.nextBoolean()) {
      String value = VALUES.get(random.nextInt(VALUES.size()));
      target = target.replaceFirst("=[^&=]*", "=" + value);
    }
    return start(target, "close");
  }

  private byte[] chunked() {
    HostileRoutes.Route route = routes.withBody(random);
    byte[] body = bodies.next(route.body());
    ByteArrayOutputStream chunks = new ByteArrayOutputStream();
    chunks.writeBytes(
        start(route.method() + " " + route.path(), "close", "Transfer-Encoding: chunked"));
    String extension = random.nextInt(4) == 0 ? ";a=b" : "";
    for (int from = 0; from < body.length; ) {
      int size = Math.min(body.length - from, 1 + random.nextInt(300));
      chunks.writeBytes(text(Integer.toHexString(size) + extension + END));
      chunks.write(body, from, size);
      chunks.writeBytes(text(END));
      from += size;
    }
    String trailer = random.nextInt(4) == 0 ? "X: y\r\n" : "";
    chunks.writeBytes(text("0\r\n" + trailer + END));
    return chunks.toByteArray();
  }

  private static byte[] start(String target, String connection, String... lines) {
    return text(
        target
            + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test-key-a\r\n"
            + "Content-Type: application/json\r\nConnection: "
            + connection
            + END
            + String.join(END, lines)
            + (lines.length > 0 ? END : "")
            + END);
  }

  private byte[] start(byte[] whole) {
    return Arrays.copyOf(whole, 1 + random.nextInt(whole.length - 1));
  }

  private byte[] head() {
    String head = HEADS.get(random.nextInt(HEADS.size()));
    String host = random.nextInt(8) == 0 ? "" : "Host: a\r\n";
    byte[] bytes =
        text(
            head
                + END
                + host
                + "Authorization: Bearer test-key-a\r\nContent-Type: application/json\r\n\r\n{}");
    return random.nextInt(3) == 0 ? bodies.damaged(bytes) : bytes;
  }

  /** The preface, settings, and frames of all types that make no sense together. */
  private byte[] http2() {
    ByteArrayOutputStream frames = new ByteArrayOutputStream();
    frames.writeBytes(text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    frames.writeBytes(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
    for (int i = random.nextInt(12); i > 0; i--) {
      byte[] payload = new byte[random.nextInt(40)];
      random.nextBytes(payload);
      frames.writeBytes(new byte[] {0, 0, (byte) payload.length});
      frames.writeBytes(new byte[] {(byte) random.nextInt(11), (byte) random.nextInt(64)});
      frames.writeBytes(new byte[] {0, 0, 0, (byte) random.nextInt(6)});
      frames.writeBytes(payload);
    }
    return frames.toByteArray();
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] joined(byte[] first, byte[] second) {
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    joined.writeBytes(first);
    joined.writeBytes(second);
    return joined.toByteArray();
  }
}
