package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.MESSAGES;
import static firstlight.app.Served.chat;
import static firstlight.app.Served.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about Anthropic's Messages, and what other cases ask of them too. */
@ExtendWith(SharedFirstlight.class)
class MessagesCasesIT {
  private static final String COUNT = MESSAGES + "/count_tokens";
  private static final String TOOLS =
      "[{\"name\":\"get_w\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\","
          + "\"properties\":{\"c\":{\"type\":\"string\",\"enum\":[\"Oslo\"]}},"
          + "\"required\":[\"c\"],\"additionalProperties\":false}}]";
  private static final String AGENTS =
      """
      {"model":"smollm2-135m","max_tokens":8,"metadata":{"user_id":"u1"},
       "thinking":{"type":"disabled"},"some_future_field":{"a":1},"temperature":0,
       "system":[{"type":"text","text":"You are terse.","cache_control":{"type":"ephemeral"}}],
       "tools":[{"name":"get_w","description":"d","input_schema":{"type":"object",
         "properties":{"c":{"type":"string"}}}}],
       "messages":[{"role":"user","content":[{"type":"text","text":"w?",
           "cache_control":{"type":"ephemeral"}}]},
         {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"get_w",
           "input":{"c":"X"}}]},
         {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1",
           "is_error":false,"content":[{"type":"text","text":"ok"}]},
           {"type":"text","text":"go on"}]}]}
      """;

  private final Served served;

  MessagesCasesIT(Served served) {
    this.served = served;
  }

  private static ObjectNode message(String text, int tokens) {
    return chat(text, tokens);
  }

  /** Cached tokens or not, so many had the prompt. */
  private static int input(JsonNode message) {
    JsonNode usage = message.get("usage");
    return usage.get("input_tokens").asInt()
        + usage.get("cache_read_input_tokens").asInt()
        + usage.get("cache_creation_input_tokens").asInt();
  }

  private int count(ObjectNode body) throws Exception {
    ObjectNode asked = body.deepCopy();
    asked.remove(List.of("max_tokens", "temperature"));
    return served.ok(COUNT, asked).get("input_tokens").asInt();
  }

  /**
   * Puts a message together of its events, each of which must be allowed where it comes: start,
   * blocks one after another, each with deltas of its own kind, the end, and nothing after it.
   */
  private static ObjectNode joined(Sse stream) throws Exception {
    assertThat(stream.status()).isEqualTo(200);
    assertThat(stream.done()).as("[DONE] is none of Anthropic's").isZero();
    List<String> names = new ArrayList<>();
    stream.lines().stream()
        .filter(line -> line.startsWith("event: "))
        .forEach(line -> names.add(line.substring("event: ".length())));
    ObjectNode message = object("{}");
    StringBuilder open = new StringBuilder();
    String expected = "message_start";
    for (int i = 0; i < names.size(); i++) {
      JsonNode event = stream.events().get(i);
      assertThat(event.get("type").asText()).isEqualTo(names.get(i));
      if (names.get(i).equals("ping")) {
        continue;
      }
      assertThat(names.get(i)).matches(expected);
      switch (names.get(i)) {
        case "message_start" -> message = (ObjectNode) event.get("message").deepCopy();
        case "content_block_start" -> {
          assertThat(event.get("index").asInt()).isEqualTo(message.get("content").size());
          message.withArray("content").add(event.get("content_block").deepCopy());
          open.setLength(0);
        }
        case "content_block_delta" -> open.append(piece(message, event));
        case "content_block_stop" -> close(message, event, open.toString());
        case "message_delta" -> {
          message.setAll((ObjectNode) event.get("delta"));
          message.set("usage", event.get("usage"));
        }
        default -> assertThat(i).isEqualTo(names.size() - 1);
      }
      expected = after(names.get(i));
    }
    assertThat(expected).as("what may follow").isEmpty();
    return message;
  }

  private static String after(String event) {
    return switch (event) {
      case "message_start", "content_block_stop" -> "content_block_start|message_delta";
      case "content_block_start", "content_block_delta" -> "content_block_(delta|stop)";
      case "message_delta" -> "message_stop";
      default -> "";
    };
  }

  private static ObjectNode block(ObjectNode message, JsonNode event) {
    assertThat(event.get("index").asInt()).isEqualTo(message.get("content").size() - 1);
    return (ObjectNode) message.get("content").get(event.get("index").asInt());
  }

  private static String piece(ObjectNode message, JsonNode event) {
    boolean tool = block(message, event).get("type").asText().equals("tool_use");
    JsonNode delta = event.get("delta");
    assertThat(delta.get("type").asText()).isEqualTo(tool ? "input_json_delta" : "text_delta");
    return delta.get(tool ? "partial_json" : "text").asText();
  }

  private static void close(ObjectNode message, JsonNode event, String whole) throws Exception {
    ObjectNode block = block(message, event);
    if (block.get("type").asText().equals("tool_use")) {
      block.set("input", Client.JSON.readTree(whole));
    } else {
      block.put("text", whole);
    }
  }

  /** The plain message, once the streamed one is the same. */
  private JsonNode same(ObjectNode body) throws Exception {
    Sse stream = served.stream(MESSAGES, body);
    JsonNode start = stream.events().getFirst().get("message");
    assertThat(start.get("type").asText()).isEqualTo("message");
    assertThat(start.get("role").asText()).isEqualTo("assistant");
    assertThat(start.get("content")).isEmpty();
    assertThat(start.get("stop_reason").isNull()).isTrue();
    JsonNode plain = served.ok(MESSAGES, body);
    assertThat(start.at("/usage/input_tokens").asInt()).isEqualTo(input(plain));
    ObjectNode streamed = joined(stream);
    for (String field : List.of("type", "role", "model", "stop_reason", "stop_sequence")) {
      assertThat(streamed.get(field)).as(field).isEqualTo(plain.get(field));
    }
    assertThat(withoutIds(streamed)).isEqualTo(withoutIds(plain));
    assertThat(input(streamed)).isEqualTo(input(plain));
    assertThat(streamed.at("/usage/output_tokens")).isEqualTo(plain.at("/usage/output_tokens"));
    return plain;
  }

  private static JsonNode withoutIds(JsonNode message) {
    JsonNode content = message.get("content").deepCopy();
    content.forEach(block -> ((ObjectNode) block).remove("id"));
    return content;
  }

  /** B27, B01, and B05: a stream's text is that of the plain answer. */
  @Test
  void a_stream_is_one_message_in_the_order_of_its_blocks() throws Exception {
    JsonNode hello = same(message("hello", 40));
    assertThat(input(hello)).isEqualTo(31);
    assertThat(hello.at("/content/0/text").asText())
        .isEqualTo(text(served.ok(CHAT, chat("hello", 40))));
    assertThat(hello.get("stop_reason").asText()).isIn("end_turn", "max_tokens");
    JsonNode one = same(message("hello", 1));
    assertThat(one.get("stop_reason").asText()).isEqualTo("max_tokens");
    assertThat(one.at("/usage/output_tokens").asInt()).isEqualTo(1);
    ObjectNode stopping = message("hello", 40);
    stopping.putArray("stop_sequences").add("e");
    JsonNode stopped = same(stopping);
    assertThat(stopped.get("stop_reason").asText()).isEqualTo("stop_sequence");
    assertThat(stopped.get("stop_sequence").asText()).isEqualTo("e");
    assertThat(stopped.at("/content/0/text").asText()).isEqualTo("H");
    ObjectNode tools = message("Weather in Oslo?", 60);
    tools.setAll(
        object(
            "{\"tool_choice\":{\"type\":\"tool\",\"name\":\"get_w\","
                + "\"disable_parallel_tool_use\":true},\"tools\":"
                + TOOLS
                + "}"));
    JsonNode called = same(tools);
    assertThat(called.get("stop_reason").asText()).isEqualTo("tool_use");
    assertThat(called.get("content")).hasSize(1);
    assertThat(called.at("/content/0/input")).isEqualTo(object("{\"c\":\"Oslo\"}"));
    JsonNode code = same(message("Write code with an indent.", 40));
    assertThat(code.at("/content/0/text").asText()).isNotEmpty();
  }

  /** B28. */
  @Test
  void what_coding_agents_send_is_understood_and_counted() throws Exception {
    ObjectNode body = object(AGENTS);
    for (String header : List.of("x-api-key", "Authorization")) {
      String value = header.equals("x-api-key") ? "test-key-a" : "Bearer test-key-a";
      HttpRequest request =
          HttpRequest.newBuilder(served.address().resolve(MESSAGES + "?beta=true"))
              .header(header, value)
              .header("anthropic-version", "2023-06-01")
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofString(AGENTS))
              .build();
      HttpResponse<String> answer = served.send(request);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(input(object(answer.body()))).isEqualTo(count(body));
    }
    ObjectNode unbounded = message("x", 1);
    unbounded.remove("max_tokens");
    assertRefused(unbounded.toString(), 400, "invalid_request_error");
    assertRefused(message("x", 1).put("model", "nope").toString(), 404, "not_found_error");
    HttpRequest wrongKey =
        HttpRequest.newBuilder(served.address().resolve(MESSAGES))
            .header("x-api-key", "wrong")
            .POST(BodyPublishers.ofString(AGENTS))
            .build();
    assertShape(served.send(wrongKey), 401, "authentication_error");
  }

  private void assertRefused(String body, int status, String type) throws Exception {
    assertShape(served.raw(MESSAGES, body), status, type);
    served.control();
  }

  private static void assertShape(HttpResponse<String> answer, int status, String type) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    JsonNode error = object(answer.body());
    assertThat(error.get("type").asText()).isEqualTo("error");
    assertThat(error.at("/error/type").asText()).isEqualTo(type);
    assertThat(error.at("/error/message").asText()).isNotEmpty();
  }

  /** B01, B03, B09, B15: as in the other dialects. */
  @Test
  void a_message_is_the_same_prompt_as_in_a_chat() throws Exception {
    assertThat(count(message("hello", 1))).isEqualTo(31);
    assertThat(count(message("hello", 1).put("model", Served.GEMMA3_CHAT))).isEqualTo(10);
    ObjectNode block = object("{\"model\":\"smollm2-135m\"}");
    block
        .putArray("messages")
        .addObject()
        .put("role", "user")
        .putArray("content")
        .addObject()
        .put("type", "text")
        .put("text", "<|im_end|>");
    assertThat(count(block)).isEqualTo(37);
    ObjectNode marked = object(AGENTS.replace("\"ok\"", "\"ok<|im_end|>\""));
    assertThat(count(marked)).isGreaterThan(count(object(AGENTS)) + 2);
    assertRefused(
        message("hello", 1).put("model", Served.GEMMA3).toString(), 400, "invalid_request_error");
    for (String more : List.of("", ",\"stream\":true")) {
      assertRefused(
          "{\"model\":\"smollm2-135m\",\"max_tokens\":1%s,\"messages\":[{\"role\":\"user\","
                  .formatted(more)
              + "\"content\":\"emoji \\ud83d\"}]}",
          400,
          "invalid_request_error");
    }
  }

  /** B38. */
  @Test
  void a_message_cut_by_its_length_has_exactly_so_many_tokens() throws Exception {
    for (int tokens : new int[] {1, 2, 5, 20}) {
      JsonNode cut = same(message("Count from 1 to 100.", tokens));
      assertThat(cut.at("/usage/output_tokens").asInt()).isEqualTo(tokens);
      assertThat(cut.get("stop_reason").asText()).isEqualTo("max_tokens");
    }
    ObjectNode stopping = chat("Count from 1 to 10.", 60);
    stopping.putArray("stop").add("\n3");
    JsonNode chat = served.ok(CHAT, stopping);
    ObjectNode other = message("Count from 1 to 10.", 60);
    other.putArray("stop_sequences").add("\n3");
    JsonNode stopped = same(other);
    assertThat(stopped.at("/content/0/text").asText()).isEqualTo(text(chat));
    assertThat(stopped.at("/usage/output_tokens")).isEqualTo(chat.at("/usage/completion_tokens"));
  }

  /** B40: what was cached is counted beside the input, and once. */
  @Test
  void cached_tokens_and_input_tokens_are_the_whole_prompt() throws Exception {
    ObjectNode body = message("Ledger of messages. " + "again ".repeat(60), 2);
    int prompt = count(body);
    JsonNode first = served.ok(MESSAGES, body);
    assertThat(first.at("/usage/cache_read_input_tokens").asInt())
        .as("no more than the system's turn")
        .isLessThan(32);
    assertThat(input(first)).isEqualTo(prompt);
    JsonNode again = served.ok(MESSAGES, body);
    assertThat(again.at("/usage/cache_read_input_tokens").asInt()).isGreaterThan(64);
    assertThat(input(again)).isEqualTo(prompt);
    assertThat(input(joined(served.stream(MESSAGES, body)))).isEqualTo(prompt);
    assertThat(served.ok(CHAT, body).at("/usage/prompt_tokens").asInt()).isEqualTo(prompt);
  }
}
