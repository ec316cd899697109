package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.protocol.FinishReason;
import firstlight.protocol.Settings;
import firstlight.protocol.wire.Submit;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Goal: each tenant has its own limits, whatever way it comes. Cases B50 and B52. */
@Timeout(60)
class TenantLimitsHttpTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String COMPLETIONS = "/v1/completions";
  private static final String RESPONSES = "/v1/responses";
  private static final String SMALL = "test-key-small";
  private static final String FEW = "test-key-few";
  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge =
        new EdgeFixture(
            """
              small: {key: test-key-small, contextMax: 20, outputMax: 3, firstTokenMax: 700ms}
              few: {key: test-key-few, requestsMax: 2}
            times: {keepAlive: 100ms}
            """);
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  @AfterEach
  void forget() throws Exception {
    edge.quiet();
    edge.replica.answering(_ -> null);
    edge.replica.forget();
  }

  private static String body(String path, boolean stream) {
    String asked =
        switch (path) {
          case CHAT -> "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]";
          case COMPLETIONS -> "\"prompt\":\"x\"";
          default -> "\"input\":\"x\",\"store\":false";
        };
    return "{\"model\":\"bytes\",\"stream\":%b,%s}".formatted(stream, asked);
  }

  private static HttpRequest.Builder request(String key, String path, String body) {
    return edge.request(path)
        .header("Authorization", "Bearer " + key)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body));
  }

  private static EdgeFixture.Answer ask(String key, String path, String body) throws Exception {
    return edge.send(request(key, path, body).build());
  }

  private static WebSocketClient webSocket(String key, String... headers) throws IOException {
    EdgeConfig config = EdgeConfig.read(Settings.parse("open: true", _ -> null));
    List<String> all = new ArrayList<>(List.of(headers));
    all.add("Authorization: Bearer " + key);
    return new WebSocketClient(
        edge.port(), new Json(config.limits()), 64 << 10, all.toArray(String[]::new));
  }

  private static void say(WebSocketClient client) throws IOException {
    client.send("{'type':'response.create','model':'bytes','input':'x','store':false}");
  }

  /** Sends a request and leaves its answer to the caller. */
  private static Socket open(String key, String path, boolean stream) throws IOException {
    String body = body(path, stream);
    Socket socket = new Socket("127.0.0.1", edge.port());
    socket.setSoTimeout(10_000);
    String head =
        "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n".formatted(path, key)
            + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                .formatted(body.length());
    socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static void awaitDelta(Socket socket) throws IOException {
    StringBuilder read = new StringBuilder();
    while (read.indexOf("\"q\"") < 0) {
      int next = socket.getInputStream().read();
      assertThat(next).as("the stream ended: %s", read).isNotNegative();
      read.append((char) next);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "false"})
  void a_prompt_beyond_the_tenants_context_is_refused_and_others_may_send_it(boolean stream)
      throws Exception {
    edge.saying("fine");
    String prompt =
        "{\"model\":\"bytes\",\"stream\":%b,\"prompt\":\"%s\"}".formatted(stream, "x".repeat(20));

    EdgeFixture.Answer refused = ask(SMALL, COMPLETIONS, prompt);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().at("/error/code").asText()).isEqualTo("context_length_exceeded");
    assertThat(refused.json().at("/error/message").asText())
        .contains("has 20 tokens", "20 positions for you");
    assertThat(ask(EdgeFixture.KEY, COMPLETIONS, prompt).status()).isEqualTo(200);
  }

  @Test
  void an_answer_is_cut_at_the_tenants_limit_whatever_it_asks_for() throws Exception {
    edge.saying("abcdefgh");
    for (String more : List.of("", ",\"max_tokens\":3", ",\"max_tokens\":60")) {
      EdgeFixture.Answer answer =
          ask(SMALL, COMPLETIONS, "{\"model\":\"bytes\",\"prompt\":\"x\"" + more + "}");

      assertThat(answer.json().at("/choices/0/text").asText()).isEqualTo("abc");
      assertThat(answer.json().at("/choices/0/finish_reason").asText()).isEqualTo("length");
    }
  }

  /** B52: a stream keeps its place while it flows, and every transport counts the same. */
  @Test
  void requests_beyond_the_tenants_number_are_refused_on_every_way() throws Exception {
    try (Socket _ = open(FEW, CHAT, true);
        WebSocketClient second = webSocket(FEW)) {
      say(second);
      Submit one = edge.replica.nextSubmit();
      Submit two = edge.replica.nextSubmit();
      for (String path : List.of(CHAT, COMPLETIONS, RESPONSES)) {
        for (boolean stream : new boolean[] {true, false}) {
          EdgeFixture.Answer third = ask(FEW, path, body(path, stream));
          assertThat(third.status()).as(path).isEqualTo(429);
          assertThat(third.json().at("/error/code").asText()).isEqualTo("tenant_requests_exceeded");
          assertThat(third.header("Retry-After")).isEqualTo("1");
          assertThat(third.header("retry-after-ms")).isEqualTo("1000");
        }
      }
      try (WebSocketClient third = webSocket(FEW)) {
        say(third);
        JsonNode refusal = third.next();
        assertThat(refusal.get("status").asInt()).isEqualTo(429);
        assertThat(refusal.at("/error/headers/retry-after-ms").asText()).isEqualTo("1000");
      }
      edge.replica.answering(_ -> new int[] {ByteTokenizer.END});
      assertThat(ask(EdgeFixture.KEY, CHAT, body(CHAT, false)).status()).isEqualTo(200);
      edge.replica.end(one.getGeneration(), FinishReason.END);
      edge.replica.end(two.getGeneration(), FinishReason.END);
      Waiting.until(() -> ask(FEW, CHAT, body(CHAT, false)).status() == 200);
    }
  }

  /** B50. */
  @Test
  void the_places_of_those_who_leave_come_back() throws Exception {
    for (int i = 0; i < 50; i++) {
      leave(i);
    }
    edge.quiet();
    requests_beyond_the_tenants_number_are_refused_on_every_way();
  }

  private void leave(int i) throws Exception {
    switch (i % 5) {
      case 0 -> leave(open(FEW, CHAT, true), true);
      case 1 -> leave(open(FEW, COMPLETIONS, true), true);
      case 2 -> leave(open(FEW, RESPONSES, true), true);
      case 3 -> leave(open(FEW, CHAT, false), false);
      default -> {
        try (WebSocketClient client = webSocket(FEW)) {
          say(client);
          Submit submit = edge.replica.nextSubmit();
          edge.replica.emit(submit.getGeneration(), 'q');
          while (!client.next().path("delta").asText().equals("q")) {}
          client.reset();
          assertThat(edge.replica.nextCancel()).isEqualTo(submit.getGeneration());
        }
      }
    }
  }

  private void leave(Socket socket, boolean streamed) throws Exception {
    try (socket) {
      Submit submit = edge.replica.nextSubmit();
      if (streamed) {
        edge.replica.emit(submit.getGeneration(), 'q');
        awaitDelta(socket);
      }
      socket.setSoLinger(true, 0);
      socket.close();
      assertThat(edge.replica.nextCancel()).isEqualTo(submit.getGeneration());
    }
  }

  @Test
  void the_time_to_the_first_token_is_the_requests_or_else_the_tenants_or_the_replicas()
      throws Exception {
    edge.saying("k");
    for (String path : List.of(CHAT, COMPLETIONS, RESPONSES)) {
      assertDeadline(() -> ask(EdgeFixture.KEY, path, body(path, true)), 0);
      assertDeadline(() -> ask(SMALL, path, body(path, true)), 700);
      HttpRequest.Builder hasty = request(SMALL, path, body(path, false));
      assertDeadline(() -> edge.send(hasty.header(Urgency.HEADER, "90").build()), 90);
    }
    try (WebSocketClient client = webSocket(SMALL, Urgency.HEADER + ": 5000")) {
      assertDeadline(
          () -> {
            say(client);
            return client.response();
          },
          5_000);
    }
  }

  private static void assertDeadline(java.util.concurrent.Callable<?> asking, long limit)
      throws Exception {
    long before = System.currentTimeMillis();
    asking.call();
    long after = System.currentTimeMillis();
    long deadline = edge.replica.nextSubmit().getDeadline();
    if (limit == 0) {
      assertThat(deadline).isZero();
    } else {
      assertThat(deadline).isBetween(before + limit, after + limit);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "1.5", "600001", "9999999999999", "soon", ""})
  void a_time_that_is_none_is_refused_by_its_name(String value) throws Exception {
    HttpRequest.Builder request = request(SMALL, CHAT, body(CHAT, false));

    EdgeFixture.Answer answer = edge.send(request.header(Urgency.HEADER, value).build());

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.json().at("/error/param").asText()).isEqualTo(Urgency.HEADER);
  }

  @ParameterizedTest
  @CsvSource({
    ", '', ",
    "auto, '', default",
    "default, '', default",
    "flex, LOW, flex",
    "priority, HIGH, priority"
  })
  void a_tier_becomes_a_priority_and_is_told(String tier, String priority, String told)
      throws Exception {
    edge.saying("k");
    String field = tier == null ? "" : ",\"service_tier\":\"" + tier + "\"";
    for (String path : List.of(CHAT, RESPONSES)) {
      EdgeFixture.Answer whole = ask(SMALL, path, with(path, false, field));
      EdgeFixture.Answer stream = ask(SMALL, path, with(path, true, field));

      boolean silent = told == null && path.equals(CHAT);
      String word = silent ? "" : told == null ? "default" : told;
      assertThat(whole.json().path("service_tier").asText()).isEqualTo(word);
      assertThat(stream.http().body().contains("\"service_tier\":\"" + word + "\""))
          .isEqualTo(!silent);
      assertThat(edge.replica.nextSubmit().getPriority()).isEqualTo(priority);
      assertThat(edge.replica.nextSubmit().getPriority()).isEqualTo(priority);
    }
  }

  private static String with(String path, boolean stream, String field) {
    String body = body(path, stream);
    return body.substring(0, body.length() - 1) + field + "}";
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"gold\"", "\"\"", "\"PRIORITY\"", "1", "{}"})
  void a_tier_that_does_not_exist_is_refused(String tier) throws Exception {
    for (String path : List.of(CHAT, RESPONSES)) {
      EdgeFixture.Answer answer = ask(SMALL, path, with(path, false, ",\"service_tier\":" + tier));

      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.json().at("/error/param").asText()).isEqualTo("service_tier");
    }
  }
}
