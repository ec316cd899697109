package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.COMPLETIONS;
import static firstlight.app.Served.GEMMA3;
import static firstlight.app.Served.SMOLLM2;
import static firstlight.app.Served.chat;
import static firstlight.app.Served.completion;
import static firstlight.app.Served.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about the text that comes back: characters, stop strings and log-probabilities. */
@ExtendWith(SharedFirstlight.class)
class TextCasesIT {
  private static final String LLAMA = "\ud83e\udd99";
  private static final String REPLACEMENT = "\ufffd";

  /** What Python's str.splitlines takes for line ends, which is the most that any reader does. */
  private static final Pattern ANY_LINE_END =
      Pattern.compile("\r\n|[\n\u000b\f\r\u001c\u001d\u001e\u0085\u2028\u2029]");

  private final Served served;

  TextCasesIT(Served served) {
    this.served = served;
  }

  private List<Sse> streams(String path, List<ObjectNode> bodies) throws Exception {
    List<CompletableFuture<Sse>> later =
        bodies.stream().map(body -> served.streamLater(path, body)).toList();
    List<Sse> streams = new ArrayList<>();
    for (CompletableFuture<Sse> stream : later) {
      streams.add(stream.get());
      assertThat(streams.getLast().status()).isEqualTo(200);
      assertThat(streams.getLast().done()).isEqualTo(1);
    }
    return streams;
  }

  /** The plain answers' texts, after comparing them with the streamed ones. */
  private List<String> plainAndStreamed(String path, List<ObjectNode> bodies) throws Exception {
    return bothWays(path, bodies).stream().map(Served::text).toList();
  }

  private List<JsonNode> bothWays(String path, List<ObjectNode> bodies) throws Exception {
    List<JsonNode> plain = served.crowd(path, bodies);
    List<Sse> streamed = streams(path, bodies);
    for (int i = 0; i < bodies.size(); i++) {
      assertThat(streamed.get(i).text(0)).as("%s", bodies.get(i)).isEqualTo(text(plain.get(i)));
      assertThat(streamed.get(i).reason(0)).isEqualTo(Served.reason(plain.get(i)));
    }
    return plain;
  }

  /** B05. */
  @Test
  void a_stream_has_the_blanks_of_the_plain_answer() throws Exception {
    List<ObjectNode> bodies = new ArrayList<>();
    for (String prompt :
        List.of(
            "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n",
            "- one\n- two\n  - nested\n- three\n",
            "Repeat exactly:    .  ,  ;    .  ,  ;",
            "Los números son: uno, dos, tres,",
            "日本語の文章です。日本語の")) {
      for (String model : List.of(SMOLLM2, GEMMA3)) {
        bodies.add(completion(model, prompt, 12).put("seed", 1));
      }
    }
    assertThat(String.join("", plainAndStreamed(COMPLETIONS, bodies))).contains("    return", " ");
  }

  /** B12: without structured output, the text is forced by prompts that the models go on with. */
  @Test
  void a_character_of_many_tokens_arrives_whole() throws Exception {
    List<ObjectNode> bodies = new ArrayList<>();
    for (int tokens = 16; tokens < 20; tokens++) {
      bodies.add(completion(SMOLLM2, "Repeat: 🦙 🦙 🦙 ", tokens));
    }
    bodies.add(completion(SMOLLM2, "日日日日日日日日日日日日", 16));
    bodies.add(completion(SMOLLM2, "щёчки щёчки щёчки щёчки щёчки", 16));
    bodies.add(completion(GEMMA3, "日本語 日本語 日本語 日本語 日本語", 16));
    ObjectNode held = completion(SMOLLM2, "Repeat: 🦙 🦙 🦙 ", 16);
    held.putArray("stop").add(LLAMA + "Z");
    bodies.add(held);
    List<String> texts = plainAndStreamed(COMPLETIONS, bodies);
    // One token of the line end, and three of each whole llama.
    assertThat(texts.getFirst()).isEqualTo("\n" + LLAMA.repeat(5)).isEqualTo(texts.getLast());
    assertThat(texts.get(1)).startsWith("\n" + LLAMA.repeat(5)).hasSizeLessThan(13);
    assertThat(texts.get(3)).isEqualTo("\n" + LLAMA.repeat(6));
    assertThat(texts.get(4)).contains("日日");
    assertThat(texts.get(5)).contains("щёчки");
    assertThat(texts.get(6)).contains("日本語");
    assertThat(texts.subList(4, 7)).noneMatch(text -> text.contains(REPLACEMENT));
  }

  /** B14. */
  @Test
  void logprobs_have_the_true_bytes_of_every_token() throws Exception {
    ObjectNode body = chat("Repeat: 🦙 🦙 🦙", 12).put("logprobs", true).put("top_logprobs", 5);
    JsonNode plain = served.ok(CHAT, body);
    assertThat(text(plain)).contains(LLAMA.repeat(3));
    assertLogprobs(plain.at("/choices/0/logprobs/content"), 12, text(plain));
    Sse stream = served.stream(CHAT, body);
    List<JsonNode> entries = new ArrayList<>();
    for (JsonNode event : stream.events()) {
      event.at("/choices/0/logprobs/content").forEach(entries::add);
    }
    assertLogprobs(entries, 12, text(plain));
    ObjectNode completion = completion(SMOLLM2, "Repeat: 🦙 🦙 🦙 ", 7).put("logprobs", 5);
    JsonNode logprobs = served.ok(COMPLETIONS, completion).at("/choices/0/logprobs");
    assertThat(logprobs.get("tokens").toString()).doesNotContain(REPLACEMENT);
    assertThat(logprobs.get("top_logprobs")).hasSize(7);
    for (JsonNode top : logprobs.get("top_logprobs")) {
      assertThat(top.size()).isBetween(5, 6);
    }
  }

  private static void assertLogprobs(Iterable<JsonNode> entries, int count, String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    assertThat(entries).hasSize(count);
    for (JsonNode entry : entries) {
      Served.ids(entry.get("bytes")).forEach(bytes::write);
      assertThat(entry.get("logprob").isNumber()).isTrue();
      assertThat(entry.get("logprob").asDouble()).isBetween(-10_000.0, 0.0);
      assertThat(entry.get("top_logprobs")).hasSize(5);
      assertThat(entry.get("top_logprobs").findValues("bytes")).doesNotHaveDuplicates();
      assertThat(entry.toString()).doesNotContain(REPLACEMENT, "239,191,189");
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo(text);
  }

  /** B19: calibrates itself by the answer without a stop string. */
  @Test
  void nothing_of_a_stop_string_is_ever_sent() throws Exception {
    String prompt = "Write a tiny poem.";
    String whole = text(served.ok(CHAT, chat(prompt, 20)));
    List<ObjectNode> bodies = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (int from : new int[] {0, 5, 17}) {
      for (int length : new int[] {1, 4, 9, 25}) {
        String stop = whole.substring(from, from + length);
        bodies.add(stopping(chat(prompt, 20), stop, bodies.size() % 3));
        expected.add(whole.substring(0, whole.indexOf(stop)));
      }
    }
    List<JsonNode> answers = bothWays(CHAT, bodies);
    assertThat(answers).extracting(Served::text).as(whole).isEqualTo(expected);
    assertThat(answers).extracting(Served::reason).containsOnly("stop");
  }

  private static ObjectNode stopping(ObjectNode body, String stop, int form) {
    if (form == 0) {
      return body.put("stop", stop);
    }
    if (form == 1) {
      body.putArray("stop").add("zzz").add(stop);
    } else {
      body.putArray("stop").add(stop);
    }
    return body;
  }

  /** B19: the text is known by another engine. */
  @Test
  void counting_stops_before_the_stop_string() throws Exception {
    ObjectNode four = chat("Count from 1 to 10.", 60);
    four.putArray("stop").add("\n3. 3\n4");
    ObjectNode three = chat("Count from 1 to 10.", 60);
    three.putArray("stop").add(" 3\n");
    assertThat(plainAndStreamed(CHAT, List.of(four, three)))
        .containsExactly("1. 1\n2. 2", "1. 1\n2. 2\n3.");
    assertThat(served.promptTokens(four)).isEqualTo(39);
  }

  /** B21. */
  @Test
  void a_stop_of_another_form_is_without_effect_or_refused() throws Exception {
    ObjectNode body = chat("Count from 1 to 10.", 6);
    JsonNode plain = served.ok(CHAT, body);
    for (String without : List.of("[]", "null")) {
      JsonNode answer = served.ok(CHAT, withStop(body, without));
      assertThat(answer.get("choices")).isEqualTo(plain.get("choices"));
    }
    List<String> wrong = new ArrayList<>();
    wrong.addAll(List.of("[\"\"]", "\"\"", "[\"a\",\"\"]", "[1]", "[null]", "{\"x\":1}", "7"));
    wrong.add("[\"" + "x".repeat(10_000) + "\"]");
    wrong.add("[" + "\"a\",".repeat(499) + "\"a\"]");
    for (String stop : wrong) {
      JsonNode error = served.refused(CHAT, withStop(body, stop), 400);
      assertThat(error.get("param").asText()).isEqualTo("stop");
      assertThat(error.get("type").asText()).isEqualTo("invalid_request_error");
      ObjectNode streamed = withStop(body, stop).put("stream", true);
      assertThat(served.refused(CHAT, streamed, 400)).isEqualTo(error);
    }
  }

  /** B21: an answer that begins with its stop string is empty, and no mistake. */
  @Test
  void a_stop_string_may_be_the_first_that_comes() throws Exception {
    ObjectNode body = completion(SMOLLM2, "Repeat: 🦙 🦙 🦙 ", 7);
    assertThat(text(served.ok(COMPLETIONS, body))).startsWith("\n");
    body.putArray("stop").add("\n");
    JsonNode stopped = bothWays(COMPLETIONS, List.of(body)).getFirst();
    assertThat(text(stopped)).isEmpty();
    assertThat(Served.reason(stopped)).isEqualTo("stop");
  }

  private static ObjectNode withStop(ObjectNode body, String stop) {
    ObjectNode changed = body.deepCopy();
    changed.setAll(object("{\"stop\":" + stop + "}"));
    return changed;
  }

  /** B25. */
  @Test
  void a_line_separator_is_no_line_end_for_any_reader() throws Exception {
    Sse stream = served.stream(COMPLETIONS, completion(SMOLLM2, "a\u2028b\u2028".repeat(4), 12));
    assertThat(stream.text(0)).contains("b\u2028b\u2028");
    assertOneLineEach(stream);
    String hostile = "a\u2028b\u2029c\u0085d\u000be";
    ObjectNode response =
        object("{\"model\":\"smollm2-135m\",\"input\":\"hi\",\"max_output_tokens\":1}");
    response.putObject("metadata").put("note", hostile);
    Sse echoed = served.stream("/v1/responses", response);
    assertThat(echoed.events().getFirst().at("/response/metadata/note").asText())
        .isEqualTo(hostile);
    assertOneLineEach(echoed);
    ObjectNode unknown = chat("hi", 1).put("model", "x\u2028y");
    byte[] error =
        served
            .a()
            .http()
            .send(
                served.post(CHAT, unknown.toString().getBytes(StandardCharsets.UTF_8)).build(),
                BodyHandlers.ofByteArray())
            .body();
    assertThat(ANY_LINE_END.split(new String(error, StandardCharsets.UTF_8))).hasSize(1);
  }

  private static void assertOneLineEach(Sse stream) {
    assertThat(stream.status()).isEqualTo(200);
    assertThat(stream.lines())
        .allSatisfy(line -> assertThat(ANY_LINE_END.matcher(line).find()).as(line).isFalse());
  }
}
