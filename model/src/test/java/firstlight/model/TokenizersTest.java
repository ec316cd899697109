package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Descriptions of tokenizers that cannot be used. */
class TokenizersTest {
  // Types of elements, as files number them.
  private static final int INT32 = 5;
  private static final int FLOAT32 = 6;

  @TempDir Path folder;

  private static GgufFile bytePair() {
    return GgufFile.llama()
        .string("tokenizer.ggml.model", "gpt2")
        .string("tokenizer.ggml.pre", "gpt-2")
        .strings("tokenizer.ggml.tokens", "a", "b", "\u00ef", "\u00bf", "\u00bd", "ab", "<s>", "c")
        .strings("tokenizer.ggml.merges", "a b");
  }

  private static GgufFile kinds(GgufFile file, int... kinds) {
    ByteBuffer content = GgufFile.little(kinds.length * Integer.BYTES);
    content.asIntBuffer().put(kinds);
    return file.array("tokenizer.ggml.token_type", INT32, kinds.length, content.array());
  }

  private static GgufFile scores(GgufFile file, float... scores) {
    ByteBuffer content = GgufFile.little(scores.length * Float.BYTES);
    content.asFloatBuffer().put(scores);
    return file.array("tokenizer.ggml.scores", FLOAT32, scores.length, content.array());
  }

  private Tokenizer read(GgufFile file) {
    try (ModelFile model = ModelFile.open(file.write(folder))) {
      return Tokenizers.of(model);
    }
  }

  private void assertRefused(GgufFile file, String... parts) {
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(InvalidModelFile.class)
        .satisfies(e -> assertThat(e.getMessage()).contains(parts));
  }

  @Test
  void a_small_vocabulary_is_enough() {
    Tokenizer tokenizer = read(bytePair());
    assertThat(tokenizer.encode("abba")).containsExactly(5, 1, 0);
    assertThat(tokenizer.encode("ab?")).containsExactly(5, 2, 3, 4);
    assertThat(tokenizer.endTokens()).isEmpty();
  }

  @Test
  void an_unknown_pre_tokenizer_is_refused_with_those_there_are() {
    assertRefused(
        bytePair().string("tokenizer.ggml.pre", "odd"), "\"odd\"", "deepseek-coder", "smollm");
    assertRefused(bytePair().without("tokenizer.ggml.pre"), "tokenizer.ggml.pre", "missing");
  }

  @Test
  void an_unknown_kind_is_refused_with_those_there_are() {
    assertRefused(bytePair().string("tokenizer.ggml.model", "bert"), "\"bert\"", "gpt2", "llama");
  }

  @Test
  void senseless_merges_are_refused() {
    for (String merge : new String[] {"ab", "a z", "a  b", " b", "a ", "b a", ""}) {
      assertRefused(bytePair().strings("tokenizer.ggml.merges", merge), "merges", "merge 0");
    }
  }

  @Test
  void a_vocabulary_that_cannot_say_that_something_is_missing_is_refused() {
    assertRefused(
        bytePair().strings("tokenizer.ggml.tokens", "a", "b", "ab").integer("x", 1), "U+FFFD");
  }

  @Test
  void token_ids_outside_the_vocabulary_are_refused() {
    for (String key : new String[] {"bos_token_id", "eos_token_id", "eot_token_id"}) {
      assertRefused(bytePair().integer("tokenizer.ggml." + key, 8), key, "8 tokens");
    }
  }

  @Test
  void arrays_of_other_sizes_are_refused() {
    assertRefused(
        scores(bytePair().string("tokenizer.ggml.model", "llama"), 1, 2),
        "scores",
        "2 elements for 8 tokens");
    assertRefused(kinds(bytePair(), 1, 1), "token_type", "2 elements for 8 tokens");
    assertRefused(kinds(bytePair(), 1, 1, 1, 1, 1, 1, 3, 6), "token 7");
    assertRefused(kinds(bytePair(), 1, 1, 1, 1, 1, 1, 3, 7), "type 7");
  }

  @Test
  void a_byte_token_is_its_byte_and_spelt_control_tokens_are_text() {
    GgufFile file =
        GgufFile.llama()
            .string("tokenizer.ggml.model", "llama")
            .strings(
                "tokenizer.ggml.tokens", "<s>", "<", "s", ">", "<s", "<0xC3>", "<0xA9>", "\u2581")
            .flag("tokenizer.ggml.add_space_prefix", 0);
    scores(file, 0, -1, -1, -1, -2, 0, 0, -1);
    Tokenizer tokenizer = read(kinds(file, 3, 1, 1, 1, 1, 6, 6, 1));

    assertThat(tokenizer.encode("<s>\u00e9 ")).containsExactly(4, 3, 5, 6, 7);
    assertThat(tokenizer.encodeWithControl("<s><s")).containsExactly(0, 4);
    assertThat(tokenizer.bytes(5)).containsExactly(0xC3);
    assertThat(tokenizer.bytes(7)).containsExactly(' ');
  }
}
