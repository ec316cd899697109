package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.COMPLETIONS;
import static firstlight.app.Served.GEMMA3_CHAT;
import static firstlight.app.Served.SMOLLM2;
import static firstlight.app.Served.chat;
import static firstlight.app.Served.completion;
import static firstlight.app.Served.message;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about requests that are too much, or no requests at all. */
@ExtendWith(SharedFirstlight.class)
class LimitCasesIT {
  private static final String RESPONSES = "/v1/responses";
  private static final String FEEDBACK = "/v1/feedback";
  private static final String HELLO =
      "\"model\":\"smollm2-135m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]";

  private final Served served;

  LimitCasesIT(Served served) {
    this.served = served;
  }

  /** B15. */
  @Test
  void half_a_character_is_refused_by_the_fields_name() throws Exception {
    String user =
        "{\"model\":\"smollm2-135m\",\"max_tokens\":1%s,\"messages\":[{\"content\":\"%s\"";
    String end = ",\"role\":\"user\"}]}";
    assertHalf(CHAT, user.formatted("", "emoji \\ud83d") + end, "messages[0].content");
    assertHalf(CHAT, user.formatted("", "x \\ude00 y") + end, "messages[0].content");
    assertHalf(CHAT, user.formatted(",\"stream\":true", "\\ud83d") + end, "messages[0].content");
    assertHalf(CHAT, user.formatted(",\"stop\":[\"\\ud83d\"]", "hi") + end, "stop[0]");
    assertHalf(COMPLETIONS, "{\"model\":\"smollm2-135m\",\"prompt\":\"\\ud83d\"}", "prompt");
    assertHalf(RESPONSES, "{\"model\":\"smollm2-135m\",\"input\":\"\\ud83d x\"}", "input");
    assertHalf(FEEDBACK, "{\"target\":{\"response_id\":\"r\"},\"comment\":\"\\ud83d\"}", "comment");
    HttpResponse<String> whole = served.raw(CHAT, user.formatted("", "\\ud83e\\udd99") + end);
    assertThat(whole.statusCode()).isEqualTo(200);
    assertThat(object(whole.body()).at("/usage/prompt_tokens").asInt()).isEqualTo(33);
  }

  private void assertHalf(String path, String body, String param) throws Exception {
    JsonNode error = served.refused(path, body, 400);
    assertThat(error.get("type").asText()).isEqualTo("invalid_request_error");
    assertThat(error.get("param").asText()).isEqualTo(param);
  }

  /** B43: the memory of this deployment makes the context shorter than the model's own. */
  @Test
  void a_prompt_longer_than_the_context_is_refused_with_both_numbers() throws Exception {
    for (int words : new int[] {8_162, 8_163, 20_000}) {
      ObjectNode body = chat("hello" + " hello".repeat(words - 1), 1);
      List<ObjectNode> forms = new ArrayList<>();
      forms.add(body);
      forms.add(body.deepCopy().put("max_tokens", 2));
      forms.add(body.deepCopy().put("stream", true));
      forms.add((ObjectNode) body.deepCopy().without(List.of("max_tokens")));
      for (ObjectNode form : forms) {
        JsonNode error = served.refused(CHAT, form, 400);
        assertThat(error.get("code").asText()).isEqualTo("context_length_exceeded");
        assertThat(error.get("message").asText())
            .contains("has %d tokens".formatted(30 + words))
            .containsPattern("context has \\d{4} positions");
      }
    }
    ObjectNode much = completion(SMOLLM2, " hello".repeat(8_192), 1);
    List<CompletableFuture<Client.Answer>> crowd =
        Collections.nCopies(5, much).stream()
            .map(body -> served.a().sendLater(COMPLETIONS, body))
            .toList();
    served.control();
    for (CompletableFuture<Client.Answer> one : crowd) {
      assertThat(one.get().status()).isEqualTo(400);
    }
  }

  @Test
  void a_configured_context_is_told_with_the_model_and_applies() throws Exception {
    JsonNode told = served.a().get("/v1/models/" + GEMMA3_CHAT).body();
    assertThat(told.get("max_model_len").asInt()).isEqualTo(512);
    ObjectNode body = chat("hello".repeat(600), 1).put("model", GEMMA3_CHAT);
    JsonNode error = served.refused(CHAT, body, 400);
    assertThat(error.get("code").asText()).isEqualTo("context_length_exceeded");
    assertThat(error.get("message").asText()).contains("512 positions here, as its configuration");
  }

  private static ObjectNode hello(int tokens) {
    ObjectNode body = chat("hello" + " hello".repeat(tokens - 10), 1).put("model", GEMMA3_CHAT);
    return body.put("temperature", 0).put("ignore_eos", true);
  }

  /** B43: the same rule for every route, where a context of 512 ends. */
  @Test
  void the_last_position_of_the_context_can_be_used_and_no_more() throws Exception {
    ObjectNode most = hello(511);
    List<ObjectNode> forms = new ArrayList<>();
    forms.add(most);
    forms.add(most.deepCopy().put("max_tokens", 2));
    forms.add((ObjectNode) most.deepCopy().without(List.of("max_tokens")));
    for (ObjectNode form : forms) {
      JsonNode answer = served.ok(CHAT, form);
      assertThat(answer.at("/usage/prompt_tokens").asInt()).isEqualTo(511);
      assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(1);
      assertThat(Served.reason(answer)).isEqualTo("length");
      assertThat(served.stream(CHAT, form).reason(0)).isEqualTo("length");
    }
    JsonNode message = served.ok(Served.MESSAGES, most.deepCopy().put("max_tokens", 2));
    assertThat(message.at("/usage/output_tokens").asInt()).isEqualTo(1);
    assertThat(message.get("stop_reason").asText()).isEqualTo("max_tokens");
    ObjectNode response = object("{}").put("model", GEMMA3_CHAT).put("temperature", 0);
    String text = most.at("/messages/0/content").asText();
    JsonNode answer = served.ok(RESPONSES, response.put("input", text));
    assertThat(answer.at("/usage/input_tokens").asInt()).isEqualTo(511);
    assertThat(answer.at("/usage/output_tokens").asInt()).isEqualTo(1);
    ObjectNode next = response.deepCopy().put("input", "more");
    next.set("previous_response_id", answer.get("id"));
    for (String refused : List.of(hello(512).toString(), next.toString())) {
      String path = refused.contains("messages") ? CHAT : RESPONSES;
      JsonNode error = served.refused(path, refused, 400);
      assertThat(error.get("code").asText()).isEqualTo("context_length_exceeded");
    }
  }

  /** B44. */
  @Test
  void numbers_out_of_bounds_and_of_other_types_are_refused_by_name() throws Exception {
    for (Map.Entry<String, List<String>> field :
        Map.of(
                "n", List.of("0", "-1", "1000000", "true", "\"2\"", "1.5"),
                "max_tokens", List.of("0", "-1", "2147483648", "1e30", "\"5\""),
                "top_logprobs", List.of("21", "3"),
                "stream", List.of("\"true\""),
                "temperature", List.of("\"hot\""))
            .entrySet()) {
      for (String value : field.getValue()) {
        String body = "{%s,\"%s\":%s}".formatted(HELLO, field.getKey(), value);
        JsonNode error = served.refused(CHAT, body, 400);
        assertThat(error.get("param").asText()).as(body).isEqualTo(field.getKey());
      }
    }
    String nulls = "{%s,\"n\":null,\"max_tokens\":null,\"max_completion_tokens\":1}";
    assertThat(served.raw(CHAT, nulls.formatted(HELLO)).statusCode()).isEqualTo(200);
  }

  /** B44. */
  @Test
  void lists_without_bounds_and_tokens_that_are_none_are_refused() throws Exception {
    String many = "[" + "\"x\",".repeat(99_999) + "\"x\"]";
    for (String prompt : List.of("[]", "[[]]", "[49152]", "[-1]", "[1.5]", many)) {
      String body = "{\"model\":\"smollm2-135m\",\"max_tokens\":1,\"prompt\":%s}";
      JsonNode error = served.refused(COMPLETIONS, body.formatted(prompt), 400);
      assertThat(error.get("param").asText()).isEqualTo("prompt");
    }
    ObjectNode turns = chat(1);
    for (int i = 0; i < 20_000; i++) {
      turns.withArray("messages").add(message("user", "x"));
    }
    assertThat(served.refused(CHAT, turns, 400).get("param").asText()).isEqualTo("messages");
    ObjectNode tools = chat("hello", 1);
    for (int i = 0; i < 10_000; i++) {
      tools.withArray("tools").add(object("{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"));
    }
    assertThat(served.refused(CHAT, tools, 400).get("param").asText()).isEqualTo("tools");
  }

  /** B44. */
  @Test
  void what_is_not_quite_json_is_refused() throws Exception {
    String twice = "{%s,\"max_tokens\":5,\"max_tokens\":100000}".formatted(HELLO);
    assertThat(served.refused(CHAT, twice, 400).get("param").asText()).isEqualTo("max_tokens");
    for (String end :
        List.of(
            ",\"temperature\":NaN}",
            ",\"temperature\":Infinity}",
            "} x",
            "}{}",
            ",}",
            ",\"a\":'b'}",
            "")) {
      served.refused(CHAT, "{" + HELLO + end, 400);
    }
    byte[] body = ("{" + HELLO + "}").getBytes(StandardCharsets.UTF_8);
    var text = served.post(CHAT, body).setHeader("Content-Type", "text/plain").build();
    assertThat(served.send(text).statusCode()).isIn(400, 415);
    served.control();
  }

  private static byte[] gzip(byte[] plain) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(plain);
    }
    return bytes.toByteArray();
  }

  /** B82: compressed bodies are not accepted, so none is ever expanded. */
  @Test
  void a_compressed_body_is_refused_unread() throws Exception {
    byte[] small = ("{" + HELLO + ",\"max_tokens\":1}").getBytes(StandardCharsets.UTF_8);
    byte[] bomb = gzip(chat("a".repeat(64 << 20), 1).toString().getBytes(StandardCharsets.UTF_8));
    byte[] zipped = gzip(small);
    assertEncodingRefused("gzip", bomb);
    assertEncodingRefused("gzip, gzip", gzip(bomb));
    assertEncodingRefused("gzip", Arrays.copyOf(zipped, zipped.length / 2));
    for (String encoding : List.of("gzip", "deflate", "br", "zstd")) {
      assertEncodingRefused(encoding, zipped);
      assertEncodingRefused(encoding, small);
    }
  }

  private void assertEncodingRefused(String encoding, byte[] body) throws Exception {
    var request = served.post(CHAT, body).header("Content-Encoding", encoding).build();
    HttpResponse<String> response = served.send(request);
    assertThat(response.statusCode()).isEqualTo(415);
    assertThat(object(response.body()).at("/error/message").asText()).contains("Content-Encoding");
    served.control();
  }

  /** B83. */
  @Test
  void deep_and_enormous_json_is_refused_soon() throws Exception {
    served.refused(CHAT, "[".repeat(100_000), 400);
    served.refused(CHAT, "{\"a\":".repeat(50_000), 400);
    String deep = "{\"a\":".repeat(5_000) + "1" + "}".repeat(5_000);
    for (String path : List.of(CHAT, COMPLETIONS, RESPONSES, FEEDBACK)) {
      served.refused(path, "{%s,\"metadata\":%s}".formatted(HELLO, deep), 400);
    }
    served.refused(CHAT, "{%s,\"temperature\":1%s}".formatted(HELLO, "0".repeat(1_000_000)), 400);
    served.refused(CHAT, "{%s,\"temperature\":1e999999999}".formatted(HELLO), 400);
    served.refused(CHAT, "{%s,\"%s\":1}".formatted(HELLO, "k".repeat(10_000_000)), 400);
    StringBuilder keys = new StringBuilder("{").append(HELLO);
    for (int i = 0; i < 1_000_000; i++) {
      keys.append(",\"").append(i).append("\":1");
    }
    served.refused(CHAT, keys.append('}').toString(), 400);
    served.refused(CHAT, "{%s,\"user\":\"%s\"}".formatted(HELLO, "u".repeat(17 << 20)), 413);
  }

  /** B83. */
  @Test
  void json_of_a_legal_depth_works_and_text_may_look_like_deep_json() throws Exception {
    String legal = "{\"a\":".repeat(90) + "1" + "}".repeat(90);
    String body = "{%s,\"max_tokens\":1,\"x\":%s}".formatted(HELLO, legal);
    assertThat(served.raw(CHAT, body).statusCode()).isEqualTo(200);
    String call =
        """
        {"model":"smollm2-135m","max_tokens":1,"messages":[{"role":"user","content":"w?"},
         {"role":"assistant","tool_calls":[{"id":"c","type":"function",
          "function":{"name":"f","arguments":"%s"}}]},
         {"role":"tool","tool_call_id":"c","content":"ok"}]}\
        """;
    assertThat(served.raw(CHAT, call.formatted("[".repeat(500))).statusCode()).isEqualTo(200);
    assertThat(served.raw(CHAT, call.formatted("[".repeat(100_000))).statusCode()).isIn(200, 400);
    served.control();
  }
}
