package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.MESSAGES;
import static firstlight.app.Served.held;
import static firstlight.app.Served.reason;
import static firstlight.app.Served.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about answers that are held to a form, which says any text that one likes. */
@ExtendWith(SharedFirstlight.class)
class FormCasesIT {
  private static final String FAMILY = "🦙👩\u200d👩\u200d👧 日本語 щёчки";
  private static final String SEPARATORS = "a\u2028b\u2029c\u0085d\u000be";
  private static final String REPLACEMENT = "\ufffd";
  private static final int CROWD = 16;

  /** More blanks than a new line and its indent. */
  private static final Pattern BLANKS = Pattern.compile("[ \\n\\r\\t]{22}");

  /** What Python's str.splitlines takes for line ends, which is the most that any reader does. */
  private static final Pattern ANY_LINE_END =
      Pattern.compile("[\n\u000b\f\r\u001c\u001d\u001e\u0085\u2028\u2029]");

  private final Served served;

  FormCasesIT(Served served) {
    this.served = served;
  }

  /** A schema of an object that can only have this text as its v. */
  private static String only(String text) {
    ObjectNode schema = object("{\"type\":\"object\",\"required\":[\"v\"]}");
    schema.put("additionalProperties", false);
    schema.putObject("properties").putObject("v").put("const", text);
    return schema.toString();
  }

  private static ObjectNode message(String schema) {
    ObjectNode body = object("{\"model\":\"smollm2-135m\",\"max_tokens\":120,\"temperature\":0}");
    body.putArray("messages").add(Served.message("user", "go"));
    ObjectNode format = body.putObject("output_config").putObject("format");
    format.put("type", "json_schema").set("schema", object(schema));
    return body;
  }

  private static ObjectNode response(String schema) {
    ObjectNode body = object("{\"model\":\"smollm2-135m\",\"input\":\"go\",\"temperature\":0}");
    ObjectNode format = body.put("max_output_tokens", 120).putObject("text").putObject("format");
    format.put("type", "json_schema").put("name", "v").set("schema", object(schema));
    return body;
  }

  /** The pieces of a streamed message's text, joined. */
  private static String messageText(Sse stream) {
    StringBuilder text = new StringBuilder();
    stream.events().forEach(event -> text.append(event.at("/delta/text").asText("")));
    return text.toString();
  }

  private static void assertSays(String expected, String json) throws Exception {
    assertThat(Client.JSON.readTree(json).get("v").asText()).isEqualTo(expected);
  }

  private static void assertLinesAreWhole(List<String> lines) {
    assertThat(lines).noneMatch(line -> line.contains(REPLACEMENT));
    assertThat(lines).noneMatch(line -> ANY_LINE_END.matcher(line).find());
  }

  private void saysEverywhere(String value) throws Exception {
    Sse chat = served.stream(CHAT, held("go", 120, only(value)));
    assertSays(value, chat.text(0));
    assertThat(chat.reason(0)).isEqualTo("stop");
    assertLinesAreWhole(chat.lines());
    Sse message = served.stream(MESSAGES, message(only(value)));
    assertSays(value, messageText(message));
    assertLinesAreWhole(message.lines());
    List<String> frames = SocketTurn.events(served, response(only(value)));
    assertSays(value, SocketTurn.text(frames));
    assertLinesAreWhole(frames);
    assertSays(value, text(served.ok(CHAT, held("go", 120, only(value)))));
  }

  /** B12. */
  @Test
  void characters_of_many_tokens_arrive_whole_over_every_transport() throws Exception {
    saysEverywhere(FAMILY);
    ObjectNode stop = held("go", 120, only(FAMILY));
    stop.putArray("stop").add("щёчкиZ");
    List<CompletableFuture<Sse>> crowd = new ArrayList<>();
    for (int i = 0; i < CROWD; i++) {
      crowd.add(served.streamLater(CHAT, i == 0 ? stop : held("go " + i, 120, only(FAMILY))));
    }
    for (CompletableFuture<Sse> one : crowd) {
      assertSays(FAMILY, one.get().text(0));
      assertLinesAreWhole(one.get().lines());
    }
  }

  /** B25. */
  @Test
  void separators_of_lines_are_said_and_cut_no_line() throws Exception {
    saysEverywhere(SEPARATORS);
    ObjectNode call = Served.chat("go", 120);
    ObjectNode function = call.putArray("tools").addObject().put("type", "function");
    function.putObject("function").put("name", "f").set("parameters", object(only(SEPARATORS)));
    Sse stream =
        served.stream(CHAT, call.put("tool_choice", "required").put("parallel_tool_calls", false));
    StringBuilder arguments = new StringBuilder();
    for (JsonNode event : stream.events()) {
      JsonNode piece = event.at("/choices/0/delta/tool_calls/0/function/arguments");
      arguments.append(piece.asText(""));
    }
    assertSays(SEPARATORS, arguments.toString());
    assertLinesAreWhole(stream.lines());
  }

  /** B14. */
  @Test
  void log_probabilities_of_a_forced_character_have_its_bytes() throws Exception {
    ObjectNode body = held("go", 60, only("🦙")).put("logprobs", true).put("top_logprobs", 5);
    JsonNode plain = served.ok(CHAT, body);
    List<JsonNode> entries = new ArrayList<>();
    plain.at("/choices/0/logprobs/content").forEach(entries::add);
    List<JsonNode> streamed = new ArrayList<>();
    for (JsonNode event : served.stream(CHAT, body).events()) {
      event.at("/choices/0/logprobs/content").forEach(streamed::add);
    }
    assertThat(streamed).isEqualTo(entries);
    assertThat(entries).hasSize(plain.at("/usage/completion_tokens").asInt());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (JsonNode entry : entries) {
      Served.ids(entry.get("bytes")).forEach(bytes::write);
      assertThat(entry.get("top_logprobs")).hasSize(5);
      assertThat(entry.toString()).doesNotContain("239,191,189", REPLACEMENT);
      entry.findValues("logprob").forEach(value -> assertThat(value.isNumber()).isTrue());
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo(text(plain));
    assertSays("🦙", text(plain));
  }

  /** B19. */
  @Test
  void a_stop_string_cuts_a_forced_text_in_the_middle_of_its_tokens() throws Exception {
    ObjectNode body = held("go", 60, only("ABCDEFGHIJ"));
    body.putArray("stop").add("DEFGHIJ");
    JsonNode plain = served.ok(CHAT, body);
    assertThat(text(plain).replaceAll("[ \n]", "")).isEqualTo("{\"v\":\"ABC");
    assertThat(reason(plain)).isEqualTo("stop");
    Sse stream = served.stream(CHAT, body);
    assertThat(stream.text(0)).isEqualTo(text(plain));
    assertThat(stream.reason(0)).isEqualTo("stop");
    ObjectNode message = message(only("ABCDEFGHIJ"));
    message.putArray("stop_sequences").add("DEFGHIJ");
    JsonNode stopped = served.ok(MESSAGES, message);
    assertThat(stopped.get("stop_reason").asText()).isEqualTo("stop_sequence");
    assertThat(stopped.get("stop_sequence").asText()).isEqualTo("DEFGHIJ");
    assertThat(stopped.at("/content/0/text").asText()).isEqualTo(text(plain));
    Sse streamed = served.stream(MESSAGES, message);
    assertThat(messageText(streamed)).isEqualTo(text(plain));
    assertThat(streamed.events().toString()).contains("\"stop_sequence\":\"DEFGHIJ\"");
  }

  /** B36, with 8 seeds of 120 tokens instead of 50 of 400. */
  @Test
  void json_ends_with_its_value_and_has_few_blanks() throws Exception {
    List<ObjectNode> bodies = new ArrayList<>();
    bodies.add(anyObject().put("max_tokens", 400));
    for (int seed = 0; seed < 8; seed++) {
      bodies.add(anyObject().put("temperature", 1).put("seed", seed));
    }
    String field = "{\"type\":\"string\",\"maxLength\":20}";
    bodies.add(
        held(
            "Give JSON with keys name, age and city.",
            200,
            "{\"type\":\"object\",\"properties\":{\"name\":%s,\"city\":%s,\"age\":{\"type\":"
                    .formatted(field, field)
                + "\"integer\"}},\"required\":[\"name\",\"age\",\"city\"],"
                + "\"additionalProperties\":false}"));
    int ended = 0;
    for (JsonNode answer : served.crowd(CHAT, bodies)) {
      String content = text(answer);
      assertThat(BLANKS.matcher(content.replaceAll("\"(\\\\.|[^\"\\\\])*\"", "s")).find())
          .as(content)
          .isFalse();
      if (reason(answer).equals("stop")) {
        ended++;
        assertThat(Client.JSON.readTree(content).isObject()).isTrue();
        assertThat(content).endsWith("}");
      }
    }
    assertThat(ended).as("answers that came to their end").isGreaterThan(2);
  }

  private static ObjectNode anyObject() {
    ObjectNode body = Served.chat("Give JSON with keys name and age.", 120);
    body.putObject("response_format").put("type", "json_object");
    return body;
  }

  /** B37. */
  @Test
  void each_of_several_answers_is_held_to_the_form_by_itself() throws Exception {
    ObjectNode body =
        held(
                "Pick.",
                60,
                "{\"type\":\"object\",\"properties\":{"
                    + "\"c\":{\"enum\":[\"red\",\"green\",\"blue\"]},"
                    + "\"k\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9}},"
                    + "\"required\":[\"c\",\"k\"],\"additionalProperties\":false}")
            .put("n", 4)
            .put("temperature", 1.2)
            .put("seed", 3)
            .put("return_token_ids", true);
    JsonNode whole = served.ok(CHAT, body);
    assertThat(whole.get("choices")).hasSize(4);
    ObjectNode asked = body.deepCopy();
    asked.putObject("stream_options").put("include_usage", true);
    Sse stream = served.stream(CHAT, asked);
    int tokens = 0;
    for (int i = 0; i < 4; i++) {
      JsonNode choice = whole.get("choices").get(i);
      assertThat(choice.get("index").asInt()).isEqualTo(i);
      JsonNode picked = Client.JSON.readTree(choice.at("/message/content").asText());
      assertThat(picked.get("c").asText()).isIn("red", "green", "blue");
      assertThat(picked.get("k").asInt()).isBetween(0, 9);
      assertThat(picked).hasSize(2);
      tokens += choice.get("token_ids").size();
      assertThat(stream.text(i)).isEqualTo(choice.at("/message/content").asText());
      assertThat(stream.reason(i)).isEqualTo("stop");
    }
    assertThat(whole.at("/usage/completion_tokens").asInt()).isEqualTo(tokens);
    assertThat(stream.events().getLast().at("/usage/completion_tokens").asInt()).isEqualTo(tokens);
  }
}
