package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.chat;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about those who want in, look around, or send the server somewhere. */
@ExtendWith(SharedFirstlight.class)
class GuardCasesIT {
  private static final List<String> ROUTES =
      List.of(
          "POST /v1/chat/completions",
          "POST /v1/completions",
          "POST /v1/responses",
          "GET /v1/responses/resp_x",
          "DELETE /v1/responses/resp_x",
          "POST /v1/feedback",
          "GET /v1/models",
          "GET /v1/models/smollm2-135m",
          "POST /v1/messages",
          "POST /v1/messages/count_tokens",
          "POST /v1/embeddings",
          "POST /tokenize",
          "GET /admin",
          "POST /reset_prefix_cache",
          "GET /");
  private static final List<String> TRICKS =
      List.of(
          "//v1/chat/completions",
          "/v1//chat/completions",
          "/V1/chat/completions",
          "/v1/chat/completions/",
          "/v1/%63hat/completions",
          "/x/../v1/chat/completions",
          "/health/../v1/chat/completions",
          "/v1/chat/completions;a=b",
          "/v1/chat/completions%00",
          "/metrics/../v1/models");
  private static final String GOOD = "Authorization: Bearer test-key-a";

  private final Served served;

  GuardCasesIT(Served served) {
    this.served = served;
  }

  private String ask(String methodAndPath, String... headers) throws IOException {
    String body = chat("hello", 1).toString();
    List<String> lines =
        new ArrayList<>(
            List.of(
                methodAndPath + " HTTP/1.1",
                "Host: localhost",
                "Connection: close",
                "Content-Type: application/json",
                "Content-Length: " + body.length()));
    lines.addAll(List.of(headers));
    try (Wire wire = new Wire(served.address())) {
      return wire.send(body, lines.toArray(String[]::new)).rest();
    }
  }

  /** B53. */
  @Test
  void no_route_is_open_to_those_without_a_good_key() throws Exception {
    for (String route : ROUTES) {
      for (String[] headers :
          List.of(
              new String[] {},
              new String[] {"Authorization: Bearer wrong"},
              new String[] {"Authorization: Bearer "},
              new String[] {"Authorization: Basic dGVzdC1rZXktYTo="},
              new String[] {"Authorization: test-key-a"},
              new String[] {"X-Api-Key: wrong"},
              new String[] {GOOD, "Authorization: Bearer wrong"})) {
        String answer = ask(route, headers);
        assertThat(answer).as(route + " " + List.of(headers)).startsWith("HTTP/1.1 401 ");
        assertThat(answer.toLowerCase(Locale.ROOT)).contains("\r\nwww-authenticate: ");
        assertThat(answer)
            .contains(
                route.contains("/v1/messages")
                    ? "\"type\":\"authentication_error\""
                    : "\"code\":\"invalid_api_key\"");
      }
      assertThat(ask(route + "?api_key=test-key-a&key=test-key-a")).startsWith("HTTP/1.1 401 ");
    }
    for (String open : List.of("GET /health/live", "GET /health/ready", "GET /metrics")) {
      assertThat(ask(open)).startsWith("HTTP/1.1 200 ");
    }
    served.control();
  }

  /** B53. */
  @Test
  void a_path_that_only_looks_like_a_route_is_none() throws Exception {
    for (String trick : TRICKS) {
      assertThat(ask("POST " + trick).substring(9, 12)).as(trick).isIn("401", "404");
      assertThat(ask("POST " + trick, GOOD).substring(9, 12)).as(trick).isIn("400", "404");
    }
    assertThat(ask("POST /v1/chat/completions", GOOD)).startsWith("HTTP/1.1 200 ");
    assertThat(
            ask(
                "GET /v1/responses",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))
        .startsWith("HTTP/1.1 401 ");
    served.control();
  }

  /** B55. */
  @Test
  void an_error_shows_nothing_of_the_inside() throws Exception {
    ObjectNode unknown = chat("hi", 1).put("model", "nope");
    JsonNode error = served.refused(CHAT, unknown, 404);
    assertThat(error.get("code").asText()).isEqualTo("model_not_found");
    List<byte[]> bodies = new ArrayList<>();
    for (String body :
        List.of(
            unknown.toString(),
            chat("hi", 1).put("model", "").toString(),
            "{\"model\":{\"a\":1},\"messages\":[]}",
            "{\"model\":",
            "{\"model\":\"smollm2-135m\",\"messages\":\"x\"}",
            "{\"model\":\"smollm2-135m\",\"messages\":[7]}",
            "\u0000",
            "null")) {
      bodies.add(body.getBytes(StandardCharsets.UTF_8));
    }
    bodies.add(new byte[] {(byte) 0xff, (byte) 0xfe});
    bodies.add(new byte[] {'{', '"', (byte) 0xc3, '"', ':', '1', '}'});
    for (String path : List.of(CHAT, "/v1/completions", "/v1/responses", "/v1/feedback")) {
      for (byte[] body : bodies) {
        HttpResponse<String> response = served.send(served.post(path, body).build());
        assertThat(response.statusCode()).isIn(400, 404);
        assertThat(response.headers().firstValue("x-request-id")).isPresent();
        assertThat(response.body() + response.headers().map())
            .doesNotContain("/home/", "/var/", "/root/", "/tmp/", "java.", "Exception", "at com.")
            .doesNotContain("jackson", "firstlight.", "vertx");
      }
      served.control();
    }
  }

  /** B85. */
  @Test
  void a_models_name_is_never_a_path() throws Exception {
    for (String name :
        List.of(
            "../../etc/passwd",
            "..\\..\\x",
            "/etc/passwd",
            "smollm2-135m/../gemma3-270m",
            "smollm2-135m%00",
            "smollm2-135m\u0000",
            "a".repeat(10_000),
            "model=x/date=2020-01-01",
            "\u202egnp",
            "SMOLLM2-135M",
            " smollm2-135m ")) {
      JsonNode error = served.refused(CHAT, chat("hi", 1).put("model", name), 404);
      assertThat(error.get("message").asText()).hasSizeLessThan(250);
      assertThat(error.get("message").asText().chars())
          .allMatch(c -> c >= ' ' && c < 0x7f || c == '…');
    }
  }

  /** B85. */
  @Test
  void an_id_is_never_a_path_or_a_pattern() throws Exception {
    for (String id :
        List.of(
            "../x",
            "a/b",
            "a\u0000b",
            "'; drop table sessions;--",
            "x".repeat(5_000),
            "{{7*7}}",
            "*",
            "?",
            "%")) {
      String path = "/v1/responses/" + URLEncoder.encode(id, StandardCharsets.UTF_8);
      // 414: longer than a request line may be.
      // On a connection of its own, since the server closes one with such a line.
      try (Client once = new Client(served.a().base(), "test-key-a")) {
        assertThat(once.get(path).status()).as(path).isIn(400, 404, 414);
      }
      ObjectNode next = object("{\"model\":\"smollm2-135m\",\"input\":\"hi\"}");
      next.put("previous_response_id", id);
      assertThat(served.a().send("/v1/responses", next).status()).as(id).isIn(400, 404);
      ObjectNode feedback = object("{\"value\":true}");
      feedback.putObject("target").put("response_id", id);
      assertThat(served.a().send("/v1/feedback", feedback).status()).as(id).isIn(202, 400);
      var asked = served.post(CHAT, new byte[0]).header("X-Extra", "../../x" + id.length());
      String hostile = "../x/" + id.length();
      HttpResponse<String> response = served.send(asked.header("x-request-id", hostile).build());
      assertThat(response.headers().firstValue("x-request-id").orElseThrow())
          .isNotEqualTo(hostile)
          .startsWith("req_");
      served.control();
    }
  }

  /** Counts who comes. */
  private static final class Listener implements AutoCloseable {
    private final ServerSocket socket;
    private final Semaphore hits = new Semaphore(0);

    Listener() throws IOException {
      socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      Thread.ofVirtual().start(this::accept);
    }

    private void accept() {
      while (!socket.isClosed()) {
        try (Socket _ = socket.accept()) {
          hits.release();
        } catch (IOException e) {
          return;
        }
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** B84. */
  @Test
  void a_url_in_a_message_is_never_fetched() throws Exception {
    try (Listener listener = new Listener()) {
      int port = listener.socket.getLocalPort();
      Set<JsonNode> errors = new HashSet<>();
      for (String url :
          List.of(
              "http://127.0.0.1:%d/a",
              "http://localhost:%d",
              "http://[::1]:%d",
              "http://2130706433:%d",
              "http://127.1:%d",
              "http://169.254.169.254/latest/",
              "file:///etc/passwd",
              "data:text/html,x")) {
        String where = url.formatted(port);
        errors.add(served.refused(CHAT, parts("image_url", where), 400));
        ObjectNode response = object("{\"model\":\"smollm2-135m\"}");
        ObjectNode user = response.putArray("input").addObject().put("role", "user");
        user.putArray("content").addObject().put("type", "input_image").put("image_url", where);
        served.refused("/v1/responses", response, 400);
        ObjectNode image = object("{\"type\":\"url\"}").put("url", where);
        ObjectNode message = chat(1);
        ObjectNode asked = message.withArray("messages").addObject().put("role", "user");
        asked.putArray("content").addObject().put("type", "image").set("source", image);
        served.refused(Served.MESSAGES, message, 400);
      }
      assertThat(errors).as("the same for every address").hasSize(1);
      assertThat(errors.iterator().next().toString()).contains("image_url", "only text");
      // One visit of our own, which shows that others would have been counted before it.
      new Socket(InetAddress.getLoopbackAddress(), port).close();
      assertThat(listener.hits.tryAcquire(5, TimeUnit.SECONDS)).isTrue();
      assertThat(listener.hits.availablePermits()).isZero();
    }
  }

  private static ObjectNode parts(String type, String url) {
    ObjectNode body = chat(1);
    ObjectNode user = body.withArray("messages").addObject().put("role", "user");
    user.putArray("content").addObject().put("type", type).putObject(type).put("url", url);
    return body;
  }
}
