package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.wire.Submit;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Goal: Anthropic's messages over the wire. Cases B27, B28, B40. */
class MessagesHttpTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String HI = "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";
  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture("");
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  @AfterEach
  void forget() {
    edge.replica.forget();
    edge.replica.cached(0);
  }

  private static EdgeFixture.Answer post(String fields) throws Exception {
    return edge.post("/v1/messages", "{\"model\":\"bytes\",\"max_tokens\":50," + fields + "}");
  }

  private static int count(String fields) throws Exception {
    EdgeFixture.Answer answer =
        edge.post("/v1/messages/count_tokens", "{\"model\":\"bytes\"," + fields + "}");
    assertThat(answer.status()).as(answer.http().body()).isEqualTo(200);
    return answer.json().get("input_tokens").asInt();
  }

  /** The data of all events; each is named as its type says. */
  private static List<JsonNode> events(String body) throws Exception {
    List<JsonNode> events = new ArrayList<>();
    for (String event : body.split("\n\n")) {
      String[] lines = event.split("\n");
      assertThat(lines).hasSize(2);
      JsonNode data = MAPPER.readTree(lines[1].substring("data: ".length()));
      assertThat(lines[0]).isEqualTo("event: " + data.get("type").asText());
      events.add(data);
    }
    return events;
  }

  private static Stream<String> types(List<JsonNode> events) {
    return events.stream().map(event -> event.get("type").asText());
  }

  @Test
  void a_conversation_is_answered() throws Exception {
    edge.saying("Hello!");
    edge.replica.cached(4);

    EdgeFixture.Answer answer = post(HI);

    JsonNode message = answer.json();
    assertThat(message.get("id").asText()).startsWith("msg_");
    assertThat(message.get("type").asText()).isEqualTo("message");
    assertThat(message.get("role").asText()).isEqualTo("assistant");
    assertThat(message.get("model").asText()).isEqualTo("bytes");
    assertThat(message.get("content").toString())
        .isEqualTo("[{\"type\":\"text\",\"text\":\"Hello!\"}]");
    assertThat(message.get("stop_reason").asText()).isEqualTo("end_turn");
    assertThat(message.get("stop_sequence").isNull()).isTrue();
    assertThat(answer.header("request-id")).isNotEmpty().isEqualTo(answer.header("x-request-id"));
    Submit submit = edge.replica.nextSubmit();
    assertThat(message.at("/usage/cache_read_input_tokens").asInt()).isEqualTo(4);
    assertThat(message.at("/usage/input_tokens").asInt() + 4).isEqualTo(submit.getPromptCount());
    assertThat(message.at("/usage/output_tokens").asInt()).isEqualTo(7);
    assertThat(submit.getOutputMax()).isEqualTo(FakeReplica.CONTEXT - submit.getPromptCount());
    var event = edge.eventOf(message.get("id").asText());
    assertThat(event.getDialect()).isEqualTo("messages");
    assertThat(event.getInputMessages(0).getText()).isEqualTo("hi");
  }

  @Test
  void a_stream_has_the_events_in_their_order_and_the_same_text() throws Exception {
    String text = " wörld 🦙 \u2028 日本語 ";
    edge.saying(text);

    EdgeFixture.Answer answer = post(HI + ",\"stream\":true");

    assertThat(answer.header("content-type")).startsWith("text/event-stream");
    List<JsonNode> events = events(answer.http().body());
    assertThat(types(events).distinct())
        .containsExactly(
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop");
    JsonNode start = events.getFirst().get("message");
    assertThat(start.get("content")).isEmpty();
    assertThat(start.get("stop_reason").isNull()).isTrue();
    assertThat(start.at("/usage/input_tokens").asInt())
        .isEqualTo(edge.replica.nextSubmit().getPromptCount());
    StringBuilder joined = new StringBuilder();
    for (JsonNode event : events) {
      joined.append(event.at("/delta/text").asText());
    }
    assertThat(joined.toString()).isEqualTo(text);
    JsonNode end = events.get(events.size() - 2);
    assertThat(end.at("/delta/stop_reason").asText()).isEqualTo("end_turn");
    assertThat(end.at("/delta/stop_sequence").isNull()).isTrue();
    assertThat(end.at("/usage/output_tokens").asInt()).isEqualTo(text.getBytes("UTF-8").length + 1);
  }

  @Test
  void the_reason_of_an_end_is_told_in_both_modes() throws Exception {
    for (boolean streamed : new boolean[] {false, true}) {
      edge.saying("abcdefgh");
      String cut =
          edge.post(
                  "/v1/messages",
                  "{\"model\":\"bytes\",\"max_tokens\":2," + HI + ",\"stream\":" + streamed + "}")
              .http()
              .body();
      assertThat(cut).contains("\"stop_reason\":\"max_tokens\",\"stop_sequence\":null");

      edge.replica.forget();
      edge.replica.answering(_ -> null);
      CompletableFuture<HttpResponse<String>> stopped =
          edge.client.sendAsync(
              edge.postRequest(
                  "/v1/messages",
                  "{\"model\":\"bytes\",\"max_tokens\":9,"
                      + HI
                      + ",\"stop_sequences\":[\"X\"],\"stream\":"
                      + streamed
                      + "}"),
              HttpResponse.BodyHandlers.ofString());
      Submit submit = edge.replica.nextSubmit();
      assertThat(submit.getStopList()).extracting(stop -> stop.toStringUtf8()).containsExactly("X");
      edge.replica.emit(submit.getGeneration(), 'a');
      edge.replica.end(submit.getGeneration(), FinishReason.STOP, "X");
      assertThat(stopped.get().body())
          .contains("\"stop_reason\":\"stop_sequence\",\"stop_sequence\":\"X\"");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          "messages":[{"role":"user","content":"hello"}] | [user]hello[assistant]
          "messages":[{"role":"user","content":[{"type":"text","text":"hel"},{"type":"text","text":"lo","cache_control":{"type":"ephemeral"}}]}] | [user]hello[assistant]
          "system":"terse","messages":[{"role":"user","content":"x"}] | [system]terse[user]x[assistant]
          "system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"messages":[{"role":"user","content":"x"}] | [system]ab[user]x[assistant]
          "messages":[{"role":"user","content":"A"},{"role":"assistant","content":"B"},{"role":"user","content":"C"}] | [user]A[assistant]B[user]C[assistant]
          "messages":[{"role":"user","content":"x"},{"role":"system","content":"s"}] | [user]x[system]s[assistant]
          "messages":[{"role":"user","content":"w?"},{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":""},{"type":"tool_use","id":"t","name":"w","input":{"c":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"},{"type":"text","text":"go"}]}] | [user]w?[assistant][tool]ok[user]go[assistant]
          "messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"w","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"no"}]}]}] | [assistant][tool]Error: no[assistant]
          "tools":[{"name":"w","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"x"}] | <w>[user]x[assistant]
          """)
  void every_shape_of_content_reaches_the_template_and_is_counted(String fields, String expected)
      throws Exception {
    edge.saying("k");

    EdgeFixture.Answer answer = post(fields);

    assertThat(answer.status()).as(answer.http().body()).isEqualTo(200);
    assertThat(answer.header(IgnoredFields.HEADER)).isEmpty();
    assertThat(edge.promptOf(edge.replica.nextSubmit())).isEqualTo(expected);
    assertThat(count(fields)).isEqualTo(answer.json().at("/usage/input_tokens").asInt());
  }

  @Test
  void what_coding_agents_send_is_accepted() throws Exception {
    edge.saying("k");
    String fields =
        "\"metadata\":{\"user_id\":\"u1\"},\"thinking\":{\"type\":\"disabled\"},"
            + "\"some_future_field\":{\"a\":1},\"service_tier\":\"auto\",\"top_k\":5,"
            + "\"tool_choice\":{\"type\":\"auto\",\"disable_parallel_tool_use\":true},"
            + "\"system\":[{\"type\":\"text\",\"text\":\"T\",\"cache_control\":"
            + "{\"type\":\"ephemeral\"}}],"
            + HI;
    HttpRequest request =
        edge.request("/v1/messages?beta=true")
            .header("x-api-key", EdgeFixture.KEY)
            .header("anthropic-version", "2023-06-01")
            .header("Content-Type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"model\":\"bytes\",\"max_tokens\":8," + fields + "}"))
            .build();

    EdgeFixture.Answer answer = edge.send(request);

    assertThat(answer.status()).as(answer.http().body()).isEqualTo(200);
    assertThat(answer.header(IgnoredFields.HEADER)).isEqualTo("some_future_field");
    assertThat(edge.replica.nextSubmit().getSampling().getTopK()).isEqualTo(5);
  }

  @Test
  void more_than_the_context_holds_is_counted_all_the_same() throws Exception {
    String fields = "\"messages\":[{\"role\":\"user\",\"content\":\"" + "x".repeat(5_000) + "\"}]";

    assertThat(count(fields)).isEqualTo(5_000 + "[user][assistant]".length());
    assertThat(post(fields).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          "messages":[] | messages
          "messages":[{"role":"user"}] | messages[0].content
          "messages":[{"role":"tool","content":"x"}] | messages[0].role
          "messages":[{"role":"user","content":7}] | messages[0].content
          "messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://127.0.0.1:9/a"}}]}] | messages[0].content[0] has the type image
          "messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"document","source":{}}]}] | messages[0].content[1] has the type document
          "messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image"}]}]}] | messages[0].content[0].content[0] has the type image
          "messages":[{"role":"user","content":[{"type":"tool_result"}]}] | messages[0].content[0].tool_use_id
          "messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}] | must not end with one of the assistant
          "system":[{"type":"image"}],"messages":[{"role":"user","content":"x"}] | system[0] has the type image
          "tools":[{"type":"web_search_20250305","name":"web_search"}],"messages":[{"role":"user","content":"x"}] | tools[0].type
          "tools":[{"name":"w"}],"messages":[{"role":"user","content":"x"}] | tools[0].input_schema
          "tool_choice":{"type":"any"},"messages":[{"role":"user","content":"x"}] | tool_choice
          "tool_choice":{"type":"tool","name":"w"},"messages":[{"role":"user","content":"x"}] | tool_choice
          "tool_choice":"auto","messages":[{"role":"user","content":"x"}] | tool_choice
          "stop_sequences":"x","messages":[{"role":"user","content":"x"}] | stop_sequences
          "stop_sequences":[""],"messages":[{"role":"user","content":"x"}] | stop_sequences
          "temperature":"hot","messages":[{"role":"user","content":"x"}] | temperature
          "thinking":{"type":"maybe"},"messages":[{"role":"user","content":"x"}] | thinking.type
          "service_tier":"gold","messages":[{"role":"user","content":"x"}] | service_tier
          "output_config":{"format":{"type":"json_schema","schema":{"type":"thing"}}},"messages":[{"role":"user","content":"x"}] | output_config.format.schema
          """)
  void what_cannot_be_honoured_is_refused_by_name(String fields, String named) throws Exception {
    for (String more : List.of("", ",\"stream\":true")) {
      EdgeFixture.Answer answer = post(fields + more);

      assertThat(answer.status()).as(answer.http().body()).isEqualTo(400);
      assertThat(answer.json().get("type").asText()).isEqualTo("error");
      assertThat(answer.json().at("/error/type").asText()).isEqualTo("invalid_request_error");
      assertThat(answer.json().at("/error/message").asText()).contains(named);
    }
  }

  @Test
  void errors_have_the_shape_and_the_types_of_anthropic() throws Exception {
    EdgeFixture.Answer unlimited = edge.post("/v1/messages", "{\"model\":\"bytes\"," + HI + "}");
    assertThat(unlimited.status()).isEqualTo(400);
    assertThat(unlimited.json().at("/error/message").asText()).contains("max_tokens is missing");
    assertThat(unlimited.json().get("request_id").asText())
        .isNotEmpty()
        .isEqualTo(unlimited.header("request-id"));

    EdgeFixture.Answer unknown =
        edge.post("/v1/messages", "{\"model\":\"none\",\"max_tokens\":1," + HI + "}");
    assertThat(unknown.status()).isEqualTo(404);
    assertThat(unknown.json().at("/error/type").asText()).isEqualTo("not_found_error");

    EdgeFixture.Answer batches = edge.post("/v1/messages/batches", "{}");
    assertThat(batches.status()).isEqualTo(404);
    assertThat(batches.json().at("/error/message").asText()).contains("/v1/messages/count_tokens");

    EdgeFixture.Answer nobody =
        edge.send(
            edge.request("/v1/messages")
                .header("x-api-key", "wrong")
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build());
    assertThat(nobody.status()).isEqualTo(401);
    assertThat(nobody.json().at("/error/type").asText()).isEqualTo("authentication_error");
  }

  @Test
  void a_full_service_is_overloaded_and_a_failed_stream_ends_with_an_error() throws Exception {
    edge.replica.answering(_ -> null);
    for (boolean begun : new boolean[] {false, true}) {
      CompletableFuture<HttpResponse<String>> answer =
          edge.client.sendAsync(
              edge.postRequest(
                  "/v1/messages",
                  "{\"model\":\"bytes\",\"max_tokens\":9,\"stream\":true," + HI + "}"),
              HttpResponse.BodyHandlers.ofString());
      String generation = edge.replica.nextSubmit().getGeneration();
      if (begun) {
        edge.replica.emit(generation, 'a');
      }
      edge.replica.refuse(generation, FailureKind.OVERLOADED, "overloaded", "Full.", 2_000);

      HttpResponse<String> told = answer.get();
      assertThat(told.statusCode()).isEqualTo(begun ? 200 : 529);
      JsonNode error = begun ? events(told.body()).getLast() : MAPPER.readTree(told.body());
      assertThat(error.at("/error/type").asText()).isEqualTo("overloaded_error");
      if (begun) {
        assertThat(told.body()).doesNotContain("message_stop");
      } else {
        assertThat(told.headers().firstValue("Retry-After")).hasValue("2");
      }
    }
  }
}
