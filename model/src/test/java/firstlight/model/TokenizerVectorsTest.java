package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Token ids against those of other implementations. */
class TokenizerVectorsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "deepseek-coder",
        "falcon",
        "gpt-2",
        "llama-bpe",
        "llama-spm",
        "phi-3",
        "qwen2",
        "starcoder"
      })
  void known_vocabularies_give_the_known_ids(String name) {
    Tokenizer tokenizer = References.vocabulary(name);
    List<References.Vector> vectors = References.vectors(name);

    assertThat(vectors).hasSizeGreaterThan(40);
    SoftAssertions.assertSoftly(
        softly -> {
          for (References.Vector vector : vectors) {
            List<Integer> ids = boxed(tokenizer.encode(vector.text()));
            softly.assertThat(ids).as(vector.text()).isEqualTo(vector.ids());
          }
        });
  }

  @Test
  void smollm2_gives_the_reference_ids() {
    compare(References.tokenizer(TestModels.smollm2()), "tokenize_smollm2.json");
  }

  @Test
  void gemma3_gives_the_reference_ids() {
    compare(References.tokenizer(TestModels.gemma3()), "tokenize_gemma3.json");
  }

  private static void compare(Tokenizer tokenizer, String reference) {
    JsonNode vectors = References.json(reference).get("vectors");
    assertThat(vectors.size()).isGreaterThan(40);
    SoftAssertions.assertSoftly(
        softly -> {
          for (JsonNode vector : vectors) {
            String text = vector.get("text").asText();
            softly
                .assertThat(tokenizer.encode(text))
                .as(text)
                .isEqualTo(References.ids(vector.get("ids_parse_false")));
            softly
                .assertThat(tokenizer.encodeWithControl(text))
                .as("with control tokens: " + text)
                .isEqualTo(References.ids(vector.get("ids_parse_true")));
            softly
                .assertThat(tokenizer.encodePrompt(text))
                .as("as a prompt: " + text)
                .isEqualTo(undoubled(References.ids(vector.get("ids_parse_true_addspecial"))));
          }
        });
  }

  /** The reference sets a second beginning before a text that spells one; case B02 forbids it. */
  private static int[] undoubled(int[] ids) {
    boolean doubled = ids.length > 1 && ids[0] == 2 && ids[1] == 2;
    return doubled ? Arrays.copyOfRange(ids, 1, ids.length) : ids;
  }

  private static List<Integer> boxed(int[] ids) {
    return IntStream.of(ids).boxed().toList();
  }
}
