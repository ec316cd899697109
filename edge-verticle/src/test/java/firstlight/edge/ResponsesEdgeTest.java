package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.Settings;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.Submit;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The dialect in its place: keys before it, the pipeline of turns and a replica behind it. */
@Timeout(60)
class ResponsesEdgeTest {
  private static final String KEY = "Authorization: Bearer " + EdgeFixture.KEY;

  private static EdgeFixture edge;
  private static FakeSession session;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture("times: {idleTimeout: 300ms}\nlimits: {bodyBytesMax: 64KiB}\n");
    session = new FakeSession(edge.vertx.eventBus());
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  @Test
  void a_response_and_its_follow_up_are_rendered_by_the_model_template() throws Exception {
    edge.saying("one");
    JsonNode first = respond("\"input\":\"a\",\"instructions\":\"be nice\"").json();
    assertThat(ResponsesServer.text(first)).isEqualTo("one");
    assertThat(prompt(edge.replica.nextSubmit())).isEqualTo("[system]be nice[user]a[assistant]");
    ResponseFinished event = edge.eventOf(first.get("id").textValue());
    assertThat(event.getDialect()).isEqualTo("responses");
    assertThat(event.getStored()).isTrue();

    JsonNode second = respond("\"input\":\"b\",\"previous_response_id\":" + first.get("id")).json();

    Submit submit = edge.replica.nextSubmit();
    assertThat(prompt(submit)).isEqualTo("[user]a[assistant]one[user]b[assistant]");
    assertThat(second.at("/usage/input_tokens").intValue()).isEqualTo(submit.getPromptCount());
    assertThat(edge.eventOf(second.get("id").textValue()).getPreviousResponseId())
        .isEqualTo(first.get("id").textValue());
  }

  @Test
  void a_web_socket_gives_the_same_answer_and_counts_as_http() throws Exception {
    edge.saying("🦙 yes");
    JsonNode whole = respond("\"input\":\"hi\"").json();
    edge.replica.nextSubmit();
    try (WebSocketClient client = connect(KEY)) {
      client.send("{'type':'response.create','model':'bytes','input':'hi'}");
      List<ObjectNode> events = client.response();
      events.forEach(ResponseSchemas.load()::checkEvent);
      JsonNode response = events.getLast().get("response");

      assertThat(ResponsesServer.text(response)).isEqualTo("🦙 yes");
      assertThat(response.get("usage")).isEqualTo(whole.get("usage"));
      // One delta for each token that completes a character, although each byte is a token.
      assertThat(events).hasSize(8 + 5);
      edge.replica.nextSubmit();
      assertThat(edge.eventOf(response.get("id").textValue()).getStreamed()).isTrue();
    }
  }

  @Test
  void a_web_socket_without_a_good_key_is_refused_before_the_upgrade() {
    for (String header : List.of("X: y", "Authorization: Bearer wrong", "Authorization: Bearer")) {
      assertThatThrownBy(() -> connect(header))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(" 401 ");
    }
  }

  @Test
  void a_web_socket_outlives_the_time_for_idle_connections() throws Exception {
    edge.saying("x");
    try (WebSocketClient client = connect(KEY)) {
      Waiting.on(edge.vertx.timer(1, TimeUnit.SECONDS));
      client.send("{'type':'response.create','model':'bytes','input':'hi'}");
      assertThat(client.response().getLast().get("type").textValue())
          .isEqualTo("response.completed");
    }
    edge.replica.nextSubmit();
  }

  @Test
  void a_client_that_vanishes_has_its_generation_cancelled() throws Exception {
    edge.replica.answering(_ -> null);
    try (WebSocketClient client = connect(KEY)) {
      client.send("{'type':'response.create','model':'bytes','input':'hi'}");
      String generation = edge.replica.nextSubmit().getGeneration();
      client.reset();
      assertThat(edge.replica.nextCancel()).isEqualTo(generation);
    }
    assertThat(edge.eventWith("cancelled").getDialect()).isEqualTo("responses");
  }

  @Test
  void what_the_pipeline_refuses_is_a_status_even_for_a_stream() throws Exception {
    String refused = "\"stream\":true,\"input\":\"refuse me\"";
    EdgeFixture.Answer template = respond(refused);
    EdgeFixture.Answer context = respond("\"stream\":true,\"input\":\"" + "x".repeat(70) + "\"");

    assertThat(template.status()).isEqualTo(400);
    assertThat(template.json().at("/error/message").textValue()).contains("Not this one!");
    assertThat(context.status()).isEqualTo(400);
    assertThat(context.json().at("/error/code").textValue()).isEqualTo("context_length_exceeded");
    assertThat(context.json().at("/error/param").textValue()).isEqualTo("input");
  }

  @Test
  void tokens_are_counted_as_they_are_then_used() throws Exception {
    edge.saying("ok");
    EdgeFixture.Answer answer = respond("\"input\":\"hi\"");
    edge.replica.nextSubmit();

    assertThat(counted("\"input\":\"hi\""))
        .isEqualTo(answer.json().at("/usage/input_tokens").intValue());
  }

  @Test
  void what_is_told_of_tools_is_counted() throws Exception {
    edge.saying("ok");
    String body = "\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"weather\"}]";
    EdgeFixture.Answer answer = respond(body);

    assertThat(prompt(edge.replica.nextSubmit())).contains("<weather>");
    assertThat(counted(body)).isEqualTo(answer.json().at("/usage/input_tokens").intValue());
  }

  private static int counted(String fields) throws Exception {
    return edge.post("/v1/responses/input_tokens", "{\"model\":\"bytes\"," + fields + "}")
        .json()
        .get("input_tokens")
        .intValue();
  }

  @Test
  void a_conversation_that_is_too_long_is_cut_if_it_may_be() throws Exception {
    edge.saying("ok");
    String input =
        "\"input\":[{\"role\":\"user\",\"content\":\"%s\"},".formatted("a".repeat(40))
            + "{\"role\":\"user\",\"content\":\"b\"}]";
    assertThat(respond(input).status()).isEqualTo(400);

    assertThat(respond(input + ",\"truncation\":\"auto\"").status()).isEqualTo(200);
    assertThat(prompt(edge.replica.nextSubmit())).isEqualTo("[user]b[assistant]");
  }

  private static EdgeFixture.Answer respond(String fields) throws Exception {
    return edge.post("/v1/responses", "{\"model\":\"bytes\"," + fields + "}");
  }

  private static WebSocketClient connect(String header) throws IOException {
    EdgeConfig config = EdgeConfig.read(Settings.parse("open: true", _ -> null));
    return new WebSocketClient(edge.port(), new Json(config.limits()), 64 << 10, header);
  }

  private static String prompt(Submit submit) {
    StringBuilder text = new StringBuilder();
    submit.getPromptList().forEach(token -> text.append((char) token.intValue()));
    return text.toString();
  }
}
