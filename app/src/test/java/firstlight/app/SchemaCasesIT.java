package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.COMPLETIONS;
import static firstlight.app.Served.held;
import static firstlight.app.Served.reason;
import static firstlight.app.Served.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about schemas and patterns that are wrong, or too much: nobody else feels them. */
@ExtendWith(SharedFirstlight.class)
class SchemaCasesIT {
  private static final List<String> WRONG =
      List.of(
          "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"foo\":\"bar\"}}",
          "{\"type\":\"strnig\"}",
          "{\"$ref\":\"#/nowhere\"}",
          "{\"$ref\":\"http://127.0.0.1:9/s.json\"}",
          "{\"type\":\"string\",\"pattern\":\"^+[a-z]$\"}",
          "{\"type\":\"string\",\"pattern\":\"(?<=x)*\"}",
          "{\"type\":\"string\",\"pattern\":\"([a-z\"}",
          "{\"enum\":[]}",
          "{\"minLength\":5,\"maxLength\":2,\"type\":\"string\"}",
          "[]",
          "\"x\"",
          "null");

  /** On an idle machine a few milliseconds; the one that tests this may be busy. */
  private static final long GAP_MILLIS_MAX = 2_000;

  private static final long REFUSAL_MILLIS_MAX = 2_000;
  private static final int AT_ONCE = 20;

  /** Characters of a schema that is not sent so many times at once: reading it is what takes. */
  private static final int LARGE = 2_000_000;

  private final Served served;

  SchemaCasesIT(Served served) {
    this.served = served;
  }

  private CompletableFuture<Sse> otherStream() {
    return served.streamLater(CHAT, Served.chat("Count from 1 to 100.", 60));
  }

  private static ObjectNode calling(String parameters) {
    ObjectNode body = Served.chat("x", 1).put("tool_choice", "required");
    ObjectNode function = body.putArray("tools").addObject().put("type", "function");
    function.set("function", object("{\"name\":\"f\",\"parameters\":" + parameters + "}"));
    return body;
  }

  /** B32. */
  @Test
  void a_wrong_schema_is_refused_with_its_place_and_others_go_on() throws Exception {
    CompletableFuture<Sse> other = otherStream();
    for (String schema : WRONG) {
      for (ObjectNode body : List.of(held("x", 1, schema), calling(schema))) {
        if (body.has("tools") && schema.equals("null")) {
          continue; // A function without parameters.
        }
        Answer answer = served.a().send(CHAT, body);
        assertThat(answer.status()).as("%s: %s", body, answer.body()).isEqualTo(400);
        JsonNode error = answer.body().get("error");
        assertThat(error.get("type").asText()).isEqualTo("invalid_request_error");
        assertThat(error.get("message").asText()).containsPattern("response_format|tool");
        Answer streamed = served.a().send(CHAT, body.put("stream", true));
        assertThat(streamed).isEqualTo(answer);
      }
    }
    assertThat(served.ok(CHAT, held("x", 1, "true")).at("/usage/completion_tokens").asInt())
        .as("true is any JSON")
        .isEqualTo(1);
    assertThat(other.get().reason(0)).isIn("stop", "length");
    served.control();
  }

  private static String nested(String head, String middle, String tail, int times) {
    return head.repeat(times) + middle + tail.repeat(times);
  }

  private void refusedSoon(String path, ObjectNode body) throws Exception {
    long begun = System.nanoTime();
    Answer answer = served.a().send(path, body);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    assertThat(answer.status()).as("%s", answer.body()).isEqualTo(400);
    assertThat(millis).as("%s", answer.body()).isLessThan(REFUSAL_MILLIS_MAX);
    served.control();
  }

  /** B34. */
  @Test
  void what_is_nested_without_end_is_refused_soon() throws Exception {
    CompletableFuture<Sse> other = otherStream();
    String deep =
        nested(
            "{\"type\":\"object\",\"properties\":{\"a\":",
            "{\"type\":\"string\"}",
            "},\"required\":[\"a\"]}",
            2_000);
    String body = held("x", 1, "{}").toString().replace("\"schema\":{}", "\"schema\":" + deep);
    served.refused(CHAT, body, 400);
    String pattern = "^" + nested("(", "a", ")", 20_000) + "$";
    ObjectNode patterned = object("{\"type\":\"string\"}").put("pattern", pattern);
    refusedSoon(CHAT, held("x", 1, patterned.toString()));
    refusedSoon(
        CHAT,
        held(
            "x",
            1,
            "{\"$defs\":{\"n\":{\"anyOf\":[{\"$ref\":\"#/$defs/n\"},{\"$ref\":\"#/$defs/n\"}]}},"
                + "\"$ref\":\"#/$defs/n\"}"));
    String grammar = "root ::= " + nested("(", "\"a\"", ")", 60_000);
    ObjectNode guided = Served.completion(Served.SMOLLM2, "x", 1);
    refusedSoon(COMPLETIONS, guided.deepCopy().put("guided_grammar", grammar));
    served.ok(COMPLETIONS, guided.put("grammar", grammar)); // A field that is not known here.
    assertThat(other.get().reason(0)).isIn("stop", "length");
  }

  /** B34. */
  @Test
  void a_schema_that_refers_to_itself_is_kept_to() throws Exception {
    ObjectNode body =
        held(
            "Write a tree.",
            100,
            "{\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\"},"
                + "\"c\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/t\"},\"maxItems\":2}},"
                + "\"required\":[\"v\",\"c\"],\"additionalProperties\":false}},"
                + "\"$ref\":\"#/$defs/t\"}");
    int whole = 0;
    for (int seed = 0; seed < 4; seed++) {
      JsonNode answer = served.ok(CHAT, body.put("temperature", seed % 3).put("seed", seed));
      assertThat(text(answer)).startsWith("{");
      if (reason(answer).equals("stop")) {
        assertTree(Client.JSON.readTree(text(answer)));
        whole++;
      }
    }
    System.out.printf("%d of 4 trees came to their end%n", whole);
  }

  private static void assertTree(JsonNode tree) {
    assertThat(tree.fieldNames()).toIterable().containsExactly("v", "c");
    assertThat(tree.get("v").isIntegralNumber()).isTrue();
    assertThat(tree.get("c").size()).isLessThanOrEqualTo(2);
    tree.get("c").forEach(SchemaCasesIT::assertTree);
  }

  /** One of four objects on each of several levels. */
  private static ObjectNode choices(int levels) {
    ObjectNode schema = object("{}");
    ArrayNode options = schema.putArray("oneOf");
    for (int i = 0; i < 4; i++) {
      ObjectNode option = options.addObject().put("type", "object");
      ObjectNode properties = option.putObject("properties");
      properties.putObject("k").put("const", i);
      properties.set("n", levels == 1 ? object("{\"type\":\"null\"}") : choices(levels - 1));
      option.putArray("required").add("k").add("n");
    }
    return schema;
  }

  private static List<String> expensive() {
    ObjectNode options = object("{\"type\":\"object\"}");
    ObjectNode properties = options.putObject("properties");
    for (int i = 0; i < 300; i++) {
      properties.putObject("property_" + i).put("type", i % 2 == 0 ? "string" : "number");
    }
    ObjectNode many = object("{}");
    ArrayNode values = many.putArray("enum");
    IntStream.range(0, 50_000).forEach(i -> values.add("value " + i * 7_919L % 50_000));
    return List.of(
        choices(8).toString(),
        choices(4).toString(),
        "{\"type\":\"string\",\"pattern\":\"^(a?){40}a{40}$\"}",
        "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":100000},"
            + "\"maxItems\":100000}",
        many.toString(),
        options.toString());
  }

  /** The longest time that anybody waits to hear whether the node lives, while it runs. */
  private final class Watch implements AutoCloseable {
    private final AtomicBoolean over = new AtomicBoolean();
    private final CompletableFuture<Long> longest = CompletableFuture.supplyAsync(this::poll);

    private long poll() {
      long worst = 0;
      try {
        while (!over.get()) {
          long asked = System.nanoTime();
          assertThat(served.b().text("/health/live")).isNotEmpty();
          worst = Math.max(worst, System.nanoTime() - asked);
        }
      } catch (Exception e) {
        throw new AssertionError(e);
      }
      return TimeUnit.NANOSECONDS.toMillis(worst);
    }

    @Override
    public void close() {
      over.set(true);
      assertThat(longest.join()).as("longest wait for /health/live, ms").isLessThan(GAP_MILLIS_MAX);
    }
  }

  /** B35. */
  @Test
  void an_expensive_schema_is_compiled_or_refused_and_stops_nobody() throws Exception {
    for (String schema : expensive()) {
      CompletableFuture<Sse> other = otherStream();
      long begun = System.nanoTime();
      List<Answer> answers = new ArrayList<>();
      try (Watch _ = new Watch()) {
        List<CompletableFuture<Answer>> same =
            IntStream.range(0, AT_ONCE)
                .limit(schema.length() > LARGE ? 2 : AT_ONCE)
                .mapToObj(_ -> served.a().sendLater(CHAT, held("x", 2, schema)))
                .toList();
        for (CompletableFuture<Answer> one : same) {
          answers.add(one.get(60, TimeUnit.SECONDS));
        }
        assertThat(other.get().reason(0)).isIn("stop", "length");
      }
      Answer first = answers.getFirst();
      System.out.printf(
          "%.50s… %d times in %d ms: %d %.120s%n",
          schema,
          answers.size(),
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun),
          first.status(),
          first.body().at("/error/message").asText());
      assertThat(answers)
          .extracting(Answer::status)
          .allMatch(status -> List.of(200, 400).contains(status));
      served.control();
    }
  }
}
