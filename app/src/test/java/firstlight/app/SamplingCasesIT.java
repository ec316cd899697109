package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.chat;
import static firstlight.app.Served.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about how tokens are chosen. */
@ExtendWith(SharedFirstlight.class)
class SamplingCasesIT {
  private static final int COUNTED = 16;

  private final Served served;

  SamplingCasesIT(Served served) {
    this.served = served;
  }

  private static ObjectNode changed(ObjectNode body, String fields) {
    ObjectNode changed = body.deepCopy();
    changed.setAll(object("{" + fields + "}"));
    return changed;
  }

  private static ObjectNode poem(int seed) {
    return chat("Write a tiny poem.", COUNTED)
        .put("temperature", 0.9)
        .put("top_p", 0.95)
        .put("seed", seed);
  }

  /** B16. */
  @Test
  void the_smallest_temperatures_and_shares_are_greedy() throws Exception {
    ObjectNode greedy = chat("Count from 1 to 10.", COUNTED);
    String expected = text(served.ok(CHAT, greedy));
    List<ObjectNode> tiny = new ArrayList<>();
    for (String temperature : List.of("1e-4", "1e-7", "1e-30", "1e-45")) {
      tiny.add(changed(greedy, "\"temperature\":" + temperature));
    }
    for (String share : List.of("\"top_p\":1e-4", "\"top_p\":1e-9", "\"top_k\":1", "\"min_p\":1")) {
      tiny.add(changed(greedy, "\"temperature\":1," + share));
    }
    List<ObjectNode> others = IntStream.range(0, 4).mapToObj(SamplingCasesIT::poem).toList();
    List<CompletableFuture<Sse>> streams =
        others.stream().map(body -> served.streamLater(CHAT, body)).toList();
    List<JsonNode> answers = served.crowd(CHAT, tiny);
    assertThat(answers).allSatisfy(one -> assertThat(text(one)).isEqualTo(expected));
    for (CompletableFuture<Sse> stream : streams) {
      assertThat(stream.get().reason(0)).isIn("stop", "length");
    }
    served.ok(CHAT, changed(greedy, "\"temperature\":2.0,\"top_p\":1"));
  }

  /** B16. */
  @Test
  void what_no_sampler_can_do_is_refused_by_its_name() throws Exception {
    for (Map.Entry<String, String> wrong :
        List.of(
            Map.entry("temperature", "-1"),
            Map.entry("temperature", "\"NaN\""),
            Map.entry("temperature", "1e400"),
            Map.entry("top_p", "0"),
            Map.entry("top_p", "1.5"),
            Map.entry("top_k", "-5"),
            Map.entry("frequency_penalty", "1e9"),
            Map.entry("logprobs", "1000"))) {
      String body =
          "{\"model\":\"smollm2-135m\",\"max_tokens\":1,\"%s\":%s,"
              .formatted(wrong.getKey(), wrong.getValue());
      JsonNode error =
          served.refused(
              CHAT, body + "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}", 400);
      assertThat(error.get("param").asText()).isEqualTo(wrong.getKey());
    }
  }

  /** B17. */
  @Test
  void a_bias_for_what_is_no_token_is_refused_and_others_go_on() throws Exception {
    CompletableFuture<Sse> running =
        served.streamLater(CHAT, chat("Count from 1 to 100.", 150).put("ignore_eos", true));
    List<String> wrong = new ArrayList<>();
    for (String key : List.of("49152", "-1", "999999999999", "1.5", "abc", "")) {
      wrong.add("{\"%s\":5}".formatted(key));
    }
    for (String value : List.of("1e308", "null", "\"5\"")) {
      wrong.add("{\"5\":%s}".formatted(value));
    }
    wrong.add(
        IntStream.range(0, 60_000)
            .mapToObj(key -> "\"%d\":1".formatted(key))
            .collect(Collectors.joining(",", "{", "}")));
    for (String biases : wrong) {
      ObjectNode body = changed(chat("hello", 4), "\"logit_bias\":" + biases);
      JsonNode error = served.refused(CHAT, body, 400);
      assertThat(error.get("param").asText()).as(body.toString()).isEqualTo("logit_bias");
      assertThat(error.get("type").asText()).isEqualTo("invalid_request_error");
    }
    assertThat(running.get().reason(0)).isEqualTo("length");
    ObjectNode last = changed(chat("hello", 2), "\"logit_bias\":{\"49151\":100,\"0\":-100}");
    assertThat(served.ok(CHAT, last).at("/usage/completion_tokens").asInt()).isEqualTo(2);
  }

  /** B18. */
  @Test
  void a_seed_gives_the_same_text_whoever_else_is_served() throws Exception {
    String alone = text(served.ok(CHAT, poem(7)));
    assertThat(text(served.ok(CHAT, poem(7)))).isEqualTo(alone);
    assertThat(text(served.ok(CHAT, poem(8)))).isNotEqualTo(alone);
    List<ObjectNode> crowd = new ArrayList<>(Collections.nCopies(4, poem(7)));
    for (int seed = 100; seed < 106; seed++) {
      crowd.add(chat("Tell me about " + "rain ".repeat(seed % 7), 10 + seed % 5).put("seed", seed));
    }
    List<JsonNode> answers = served.crowd(CHAT, crowd);
    assertThat(answers.subList(0, 4)).allMatch(one -> text(one).equals(alone));
  }

  /** B18. */
  @Test
  void several_answers_differ_and_without_a_seed_so_do_requests() throws Exception {
    JsonNode pair = served.ok(CHAT, poem(7).put("n", 2)).get("choices");
    assertThat(pair.get(0).get("message")).isNotEqualTo(pair.get(1).get("message"));
    assertThat(served.ok(CHAT, poem(7).put("n", 2)).get("choices")).isEqualTo(pair);
    ObjectNode free = poem(0);
    free.remove("seed");
    List<JsonNode> drawn = served.crowd(CHAT, Collections.nCopies(4, free));
    assertThat(new HashSet<>(drawn.stream().map(Served::text).toList())).hasSizeGreaterThan(1);
  }
}
