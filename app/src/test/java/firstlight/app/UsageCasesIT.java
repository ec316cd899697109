package firstlight.app;

import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.COMPLETIONS;
import static firstlight.app.Served.GEMMA3;
import static firstlight.app.Served.SMOLLM2;
import static firstlight.app.Served.chat;
import static firstlight.app.Served.completion;
import static firstlight.app.Served.good;
import static firstlight.app.Served.message;
import static firstlight.app.Served.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about counting tokens, and about what the prefix cache may and may not change. */
@ExtendWith(SharedFirstlight.class)
class UsageCasesIT {
  private static final int BLOCK = 16;
  private static final int FIRST_ID = 1_000;
  private static final int LAST_ID = 40_000;

  private final Served served;

  UsageCasesIT(Served served) {
    this.served = served;
  }

  /** Cached tokens come in whole Blocks, and at least one token of a prompt is computed. */
  private static int cacheable(int promptTokens) {
    return (promptTokens - 1) / BLOCK * BLOCK;
  }

  private static int count(JsonNode answer, String name) {
    return answer.at("/usage/" + name).asInt(-1);
  }

  private static int cached(JsonNode answer) {
    return count(answer, "prompt_tokens_details/cached_tokens");
  }

  private JsonNode usageOfStream(String path, ObjectNode body) throws Exception {
    ObjectNode asked = body.deepCopy();
    asked.putObject("stream_options").put("include_usage", true);
    return served.stream(path, asked).events().getLast();
  }

  /** B38. */
  @Test
  void an_answer_cut_by_its_length_has_exactly_so_many_tokens() throws Exception {
    for (int tokens : new int[] {1, 2, 5, 20}) {
      ObjectNode chat = chat("Count from 1 to 100.", tokens);
      ObjectNode completion = completion(SMOLLM2, "Count from 1 to 100:", tokens);
      for (JsonNode answer :
          List.of(
              served.ok(CHAT, chat),
              usageOfStream(CHAT, chat),
              served.ok(COMPLETIONS, completion),
              usageOfStream(COMPLETIONS, completion))) {
        assertThat(count(answer, "completion_tokens")).isEqualTo(tokens);
        assertThat(count(answer, "total_tokens"))
            .isEqualTo(count(answer, "prompt_tokens") + tokens);
      }
    }
    ObjectNode three = chat("Count from 1 to 100.", 5).put("n", 3);
    assertThat(count(served.ok(CHAT, three), "completion_tokens")).isEqualTo(15);
    assertThat(count(usageOfStream(CHAT, three), "completion_tokens")).isEqualTo(15);
  }

  /** B38. */
  @Test
  void an_answer_that_ends_earlier_is_counted_the_same_way_everywhere() throws Exception {
    ObjectNode natural = chat("Reply with the single word yes.", 60);
    ObjectNode stopped = chat("Count from 1 to 10.", 60);
    stopped.putArray("stop").add("\n3");
    for (ObjectNode body : List.of(natural, stopped)) {
      ObjectNode withIds = body.deepCopy().put("return_token_ids", true);
      JsonNode answer = served.ok(CHAT, withIds);
      assertThat(Served.reason(answer)).isEqualTo("stop");
      int tokens = count(answer, "completion_tokens");
      assertThat(tokens).isBetween(2, 59).isEqualTo(answer.at("/choices/0/token_ids").size());
      assertThat(count(usageOfStream(CHAT, body), "completion_tokens")).isEqualTo(tokens);
    }
  }

  /** B40. */
  @Test
  void cached_tokens_are_a_part_of_the_prompts_tokens() throws Exception {
    ObjectNode body =
        chat(
            2,
            message("system", "Ledger of B40."),
            message("user", "hello " + "again ".repeat(60)));
    JsonNode first = served.ok(CHAT, body);
    int prompt = count(first, "prompt_tokens");
    assertThat(prompt).isGreaterThan(64);
    assertThat(cached(first)).isZero();
    for (JsonNode later : List.of(served.ok(CHAT, body), usageOfStream(CHAT, body))) {
      assertThat(count(later, "prompt_tokens")).isEqualTo(prompt);
      assertThat(cached(later)).isEqualTo(cacheable(prompt));
    }
  }

  private static ObjectNode prompt(List<Integer> ids) {
    ObjectNode body = completion(SMOLLM2, "", 6).put("ignore_eos", true);
    ArrayNode prompt = body.putArray("prompt");
    ids.forEach(prompt::add);
    return body;
  }

  private static List<Integer> random(Random random, int length) {
    return new ArrayList<>(random.ints(length, FIRST_ID, LAST_ID).boxed().toList());
  }

  /** B47: lengths around the size of a Block. */
  @Test
  void an_answer_from_the_cache_is_the_answer_without_it() throws Exception {
    Random random = new Random(47);
    for (int length : new int[] {1, 15, 16, 17, 31, 32, 33, 100}) {
      ObjectNode body = prompt(random(random, length));
      JsonNode fresh = served.ok(COMPLETIONS, body);
      JsonNode again = served.ok(COMPLETIONS, body);
      assertThat(count(fresh, "prompt_tokens")).isEqualTo(length);
      assertThat(cached(fresh)).isZero();
      assertThat(cached(again)).as("of %d", length).isEqualTo(cacheable(length));
      assertThat(text(again)).isEqualTo(text(fresh));
      JsonNode others = good(served.b().send(COMPLETIONS, body));
      assertThat(cached(others)).as("another tenant's").isZero();
      assertThat(text(others)).isEqualTo(text(fresh));
    }
  }

  /** B47. */
  @Test
  void a_block_is_taken_only_for_the_same_tokens_and_the_same_model() throws Exception {
    List<Integer> ids = random(new Random(4_711), 33);
    String text = text(served.ok(COMPLETIONS, prompt(ids)));
    for (int last : new int[] {BLOCK - 1, 2 * BLOCK - 1}) {
      List<Integer> other = new ArrayList<>(ids);
      other.set(last, ids.get(last) + 1);
      assertThat(cached(served.ok(COMPLETIONS, prompt(other)))).isEqualTo(last / BLOCK * BLOCK);
    }
    JsonNode again = served.ok(COMPLETIONS, prompt(ids));
    assertThat(cached(again)).isEqualTo(32);
    assertThat(text(again)).isEqualTo(text);
    JsonNode model = served.ok(COMPLETIONS, prompt(ids).put("model", GEMMA3));
    assertThat(cached(model)).isZero();
    assertThat(cached(served.ok(COMPLETIONS, prompt(ids).put("model", GEMMA3)))).isPositive();
  }
}
