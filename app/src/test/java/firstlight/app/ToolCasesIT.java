package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.chat;
import static firstlight.app.Served.message;
import static firstlight.app.Served.reason;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about calls of tools, by a model whose template knows nothing of them. */
@ExtendWith(SharedFirstlight.class)
class ToolCasesIT {
  private static final String TOOLS =
      """
      [{"type":"function","function":{"name":"get_w","parameters":{"type":"object",
        "properties":{"c":{"type":"string","enum":["Oslo"]}},"required":["c"],
        "additionalProperties":false}}}]\
      """;
  private static final String NAMED = "{\"type\":\"function\",\"function\":{\"name\":\"get_w\"}}";

  private final Served served;

  ToolCasesIT(Served served) {
    this.served = served;
  }

  private static ObjectNode weather(int tokens, String choice) {
    ObjectNode body = chat("Weather in Oslo?", tokens);
    body.setAll(object("{\"tools\":" + TOOLS + ",\"tool_choice\":" + choice + "}"));
    return body;
  }

  /** A message as OpenAI's clients put it together of a stream's deltas. */
  private static ObjectNode joined(Sse stream) {
    ObjectNode message = object("{}");
    StringBuilder content = new StringBuilder();
    List<StringBuilder> arguments = new ArrayList<>();
    for (JsonNode event : stream.events()) {
      JsonNode delta = event.at("/choices/0/delta");
      content.append(delta.path("content").asText(""));
      for (JsonNode piece : delta.path("tool_calls")) {
        int index = piece.get("index").asInt();
        if (index == arguments.size()) {
          arguments.add(new StringBuilder());
          ObjectNode call = message.withArray("tool_calls").addObject();
          call.set("id", piece.get("id"));
          call.set("name", piece.at("/function/name"));
        } else {
          assertThat(index).as("calls come one after another").isEqualTo(arguments.size() - 1);
          assertThat(piece.has("id")).isFalse();
          assertThat(piece.at("/function/name").isMissingNode()).as("named once").isTrue();
        }
        arguments.getLast().append(piece.at("/function/arguments").asText(""));
      }
    }
    for (int i = 0; i < arguments.size(); i++) {
      ((ObjectNode) message.get("tool_calls").get(i)).put("arguments", arguments.get(i).toString());
    }
    return message.put("content", content.toString());
  }

  /** Asks both ways, and gives the plain answer once the streamed one says the same. */
  private JsonNode same(ObjectNode body) throws Exception {
    JsonNode plain = served.ok(CHAT, body);
    Sse stream = served.stream(CHAT, body);
    assertThat(stream.reason(0)).as("%s", body).isEqualTo(reason(plain));
    ObjectNode message = joined(stream);
    assertThat(message.get("content").asText())
        .isEqualTo(plain.at("/choices/0/message/content").asText(""));
    JsonNode calls = plain.at("/choices/0/message/tool_calls");
    assertThat(message.path("tool_calls")).hasSize(calls.size());
    for (int i = 0; i < calls.size(); i++) {
      JsonNode streamed = message.get("tool_calls").get(i);
      assertThat(streamed.get("name")).isEqualTo(calls.get(i).at("/function/name"));
      assertThat(streamed.get("arguments")).isEqualTo(calls.get(i).at("/function/arguments"));
    }
    return plain;
  }

  /** B29, and B38: the tokens of a call are counted as any others. */
  @Test
  void the_reason_of_the_end_is_the_same_streamed_and_plain() throws Exception {
    for (String choice : List.of("\"required\"", NAMED)) {
      JsonNode called = same(weather(60, choice).put("parallel_tool_calls", false));
      assertThat(reason(called)).isEqualTo("tool_calls");
      assertThat(called.at("/choices/0/message/content").isNull()).isTrue();
      JsonNode function = called.at("/choices/0/message/tool_calls/0/function");
      assertThat(function.get("name").asText()).isEqualTo("get_w");
      assertThat(Client.JSON.readTree(function.get("arguments").asText()))
          .isEqualTo(object("{\"c\":\"Oslo\"}"));
      assertThat(reason(same(weather(3, choice)))).isEqualTo("length");
    }
    JsonNode free = same(weather(60, "\"auto\""));
    boolean called = free.at("/choices/0/message").has("tool_calls");
    assertThat(reason(free)).isIn(called ? List.of("tool_calls") : List.of("stop", "length"));
    assertThat(reason(same(weather(3, "\"auto\"")))).isEqualTo("length");
    for (int tokens : new int[] {3, 60}) {
      JsonNode none = same(weather(tokens, "\"none\""));
      assertThat(none.at("/choices/0/message").has("tool_calls")).isFalse();
      assertThat(reason(none)).isIn("stop", "length");
    }
  }

  /** B38. */
  @Test
  void a_call_is_counted_the_same_way_everywhere() throws Exception {
    ObjectNode body = weather(60, "\"required\"").put("parallel_tool_calls", false);
    JsonNode plain = served.ok(CHAT, body.put("return_token_ids", true));
    int tokens = plain.at("/choices/0/token_ids").size();
    assertThat(plain.at("/usage/completion_tokens").asInt()).isEqualTo(tokens).isBetween(10, 59);
    ObjectNode asked = body.deepCopy();
    asked.putObject("stream_options").put("include_usage", true);
    JsonNode usage = served.stream(CHAT, asked).events().getLast().get("usage");
    assertThat(usage.get("completion_tokens").asInt()).isEqualTo(tokens);
  }

  /** B31: without its end token the model makes one call after another, as long as it may. */
  @Test
  void parallel_calls_have_places_and_ids_of_their_own() throws Exception {
    ObjectNode body = weather(100, "\"required\"");
    body.putObject("logit_bias").put("2", -100);
    Set<String> ids = new HashSet<>();
    for (int i = 0; i < 2; i++) {
      JsonNode calls = joined(served.stream(CHAT, body)).get("tool_calls");
      assertThat(calls.size()).isGreaterThan(1);
      for (JsonNode call : calls) {
        assertThat(ids.add(call.get("id").asText())).as("an id of its own").isTrue();
        assertThat(call.get("id").asText()).as("64 random bits or more").hasSizeGreaterThan(15);
      }
      for (int whole = 0; whole < calls.size() - 1; whole++) {
        assertThat(Client.JSON.readTree(calls.get(whole).get("arguments").asText()))
            .isEqualTo(object("{\"c\":\"Oslo\"}"));
      }
    }
    assertThat(reason(same(body))).isEqualTo("length");
  }

  private static ObjectNode result(String id, String text) {
    return message("tool", text).put("tool_call_id", id);
  }

  private List<Integer> told(ObjectNode... results) throws Exception {
    ObjectNode calls = message("assistant", "");
    for (String id : List.of("call_1", "call_2")) {
      ObjectNode call = calls.withArray("tool_calls").addObject().put("id", id);
      call.put("type", "function")
          .putObject("function")
          .put("name", "get_w")
          .put("arguments", "{}");
    }
    ObjectNode body = chat(1, message("user", "Weather?"), calls);
    body.withArray("messages").addAll(List.of(results));
    JsonNode answer = served.ok(CHAT, body.put("return_token_ids", true));
    return Served.ids(answer.get("prompt_token_ids"));
  }

  /** B31: a result finds its call by its id; one that has no call stays, after the others. */
  @Test
  void results_may_come_in_any_order() throws Exception {
    List<Integer> inOrder = told(result("call_1", "sun"), result("call_2", "rain"));
    assertThat(told(result("call_2", "rain"), result("call_1", "sun"))).isEqualTo(inOrder);
    assertThat(told(result("call_1", "rain"), result("call_2", "sun"))).isNotEqualTo(inOrder);
    assertThat(told(result("call_9", "rain"), result("call_1", "sun"))).isEqualTo(inOrder);
  }
}
