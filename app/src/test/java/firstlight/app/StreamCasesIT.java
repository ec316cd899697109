package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.chat;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about the form of streams. */
@ExtendWith(SharedFirstlight.class)
class StreamCasesIT {
  private static final int STREAMS = 60;
  private static final int AT_A_TIME = 16;

  private final Served served;

  StreamCasesIT(Served served) {
    this.served = served;
  }

  /** B22. */
  @Test
  void usage_comes_once_and_only_to_those_who_ask() throws Exception {
    ObjectNode body = chat("hello", 5);
    for (String options : List.of("null", "{}", "{\"include_usage\":false}")) {
      Sse stream = served.stream(CHAT, with(body, options));
      assertThat(stream.withoutChoices()).isEmpty();
      assertThat(stream.events()).noneMatch(event -> event.hasNonNull("usage"));
    }
    assertUsage(served.stream(CHAT, with(body, "{\"include_usage\":true}")), 5);
    ObjectNode two = with(body, "{\"include_usage\":true}").put("n", 2);
    assertUsage(served.stream(CHAT, two), 10);
    JsonNode error = served.refused(CHAT, with(body, "{\"include_usage\":true}"), 400);
    assertThat(error.get("param").asText()).isEqualTo("stream_options");
  }

  private static ObjectNode with(ObjectNode body, String options) {
    ObjectNode changed = body.deepCopy();
    changed.setAll(object("{\"stream_options\":" + options + "}"));
    return changed;
  }

  private static void assertUsage(Sse stream, int tokens) {
    assertThat(stream.withoutChoices()).containsExactly(stream.events().getLast());
    JsonNode usage = stream.events().getLast().get("usage");
    assertThat(usage.get("prompt_tokens").asInt()).isEqualTo(31);
    assertThat(usage.get("completion_tokens").asInt()).isEqualTo(tokens);
    assertThat(usage.get("total_tokens").asInt()).isEqualTo(31 + tokens);
    assertThat(stream.events().stream().filter(event -> event.hasNonNull("usage"))).hasSize(1);
    for (String name : List.of("id", "object", "created", "model")) {
      Set<JsonNode> values = new HashSet<>();
      stream.events().forEach(event -> values.add(event.get(name)));
      assertThat(values).as(name).hasSize(1);
    }
    assertThat(stream.events().getFirst().get("object").asText())
        .isEqualTo("chat.completion.chunk");
  }

  /** B23, with 60 streams instead of 500. */
  @Test
  void every_stream_has_one_beginning_and_one_end() throws Exception {
    List<Future<Sse>> streams = new ArrayList<>();
    try (ExecutorService callers = Executors.newFixedThreadPool(AT_A_TIME)) {
      for (int i = 0; i < STREAMS; i++) {
        ObjectNode body = varied(i);
        streams.add(callers.submit(() -> served.stream(CHAT, body)));
      }
    }
    Set<String> reasons = new HashSet<>();
    for (int i = 0; i < STREAMS; i++) {
      Sse stream = streams.get(i).get();
      assertThat(stream.status()).isEqualTo(200);
      assertThat(stream.contentType()).startsWith("text/event-stream");
      assertThat(stream.done()).isEqualTo(1);
      assertThat(stream.withoutChoices()).hasSize(i % 2);
      for (int choice = 0; choice < varied(i).path("n").asInt(1); choice++) {
        reasons.add(stream.reason(choice));
        assertThat(firstDelta(stream, choice).path("role").asText()).isEqualTo("assistant");
      }
    }
    assertThat(reasons).containsExactlyInAnyOrder("stop", "length");
  }

  private static List<ObjectNode> responses() {
    List<ObjectNode> bodies = new ArrayList<>();
    String tools =
        "\"parallel_tool_calls\":false,\"tools\":[{\"type\":\"function\",\"name\":\"f\","
            + "\"parameters\":{\"type\":\"object\",\"properties\":{\"c\":{\"enum\":"
            + "[\"Kraków\",\"東京\"]}},\"required\":[\"c\"],\"additionalProperties\":false}}]";
    for (String fields :
        List.of(
            "\"input\":\"Count to 5.\"",
            "\"input\":\"Write a poem.\"",
            "\"input\":\"Repeat: 🦙 🦙 日本語\",\"top_logprobs\":3,"
                + "\"include\":[\"message.output_text.logprobs\"]",
            "\"input\":\"Where?\",\"tool_choice\":\"required\"," + tools,
            "\"input\":\"Where?\",\"tool_choice\":\"auto\"," + tools,
            "\"input\":\"JSON\",\"text\":{\"format\":{\"type\":\"json_object\"}}")) {
      ObjectNode body = object("{\"temperature\":0," + fields + "}").put("model", Served.SMOLLM2);
      bodies.add(body.put("max_output_tokens", 30));
    }
    return bodies;
  }

  /** Without what differs from one Response to the next. */
  private static JsonNode withoutIds(JsonNode response) {
    JsonNode output = response.get("output").deepCopy();
    for (JsonNode item : output) {
      ((ObjectNode) item).remove(List.of("id", "call_id"));
    }
    return output;
  }

  @Test
  void a_response_is_streamed_as_it_is_plain_and_again_byte_for_byte() throws Exception {
    for (ObjectNode body : responses()) {
      Sse stream = served.stream(Served.RESPONSES, body);
      JsonNode response = stream.events().getLast().get("response");
      assertThat(withoutIds(response)).isEqualTo(withoutIds(served.ok(Served.RESPONSES, body)));
      String path = "/v1/responses/" + response.get("id").asText() + "?stream=true";
      String whole = String.join("\n", stream.lines()) + "\n";
      assertThat(served.a().text(path)).isEqualTo(whole);
      int after = 0;
      for (int i = 0; i < stream.events().size() - 1; i++) {
        after = whole.indexOf("\n\n", after) + 2;
        assertThat(served.a().text(path + "&starting_after=" + i))
            .isEqualTo(whole.substring(after));
      }
    }
  }

  private static ObjectNode varied(int i) {
    ObjectNode body = chat("Count from 1 to 10.", 1 + i * 7 % 10);
    body.put("seed", i).put("temperature", i % 3);
    if (i % 2 == 1) {
      body.putObject("stream_options").put("include_usage", true);
    }
    if (i % 4 == 0) {
      body.putArray("stop").add("\n2").add("e");
    }
    if (i % 10 == 3) {
      body.set(
          "tools",
          object("{\"a\":[{\"type\":\"function\",\"function\":{\"name\":\"get_w\"}}]}").get("a"));
    }
    return i % 5 == 2 ? body.put("n", 2) : body;
  }

  private static JsonNode firstDelta(Sse stream, int choice) {
    return stream.events().stream()
        .flatMap(event -> event.path("choices").valueStream())
        .filter(one -> one.get("index").asInt() == choice)
        .findFirst()
        .orElseThrow()
        .get("delta");
  }
}
