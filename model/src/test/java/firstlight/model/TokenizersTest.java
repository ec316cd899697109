package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

  /** Mistral's and Llama's vocabularies have them as control tokens. */
  private Tokenizer withMarkers() {
    String[] texts = new String[256 + 7];
    for (int value = 0; value < 256; value++) {
      texts[value] = String.valueOf(ByteAlphabet.charOf(value));
    }
    String[] control = {
      "<s>", "</s>", "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>", "[INST]", "<think>"
    };
    System.arraycopy(control, 0, texts, 256, control.length);
    int[] kinds = new int[texts.length];
    Arrays.fill(kinds, 0, 256, Vocabulary.NORMAL);
    Arrays.fill(kinds, 256, kinds.length, Vocabulary.CONTROL);
    GgufFile file = bytePair().strings("tokenizer.ggml.tokens", texts);
    return read(kinds(file.strings("tokenizer.ggml.merges"), kinds));
  }

  @Test
  void a_marker_of_calls_has_a_text_in_answers_and_is_none_of_plain_text() {
    Tokenizer tokenizer = withMarkers();
    for (int id : new int[] {258, 259, 260, 262}) {
      assertThat(tokenizer.bytes(id)).asString().isEqualTo(tokenizer.text(id));
      assertThat(tokenizer.isControl(id)).isTrue();
      assertThat(tokenizer.encode(tokenizer.text(id))).doesNotContain(id);
      assertThat(tokenizer.encodeWithControl(tokenizer.text(id))).containsExactly(id);
    }
    for (int id : new int[] {256, 257, 261}) {
      assertThat(tokenizer.bytes(id)).as(tokenizer.text(id)).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'{{ tools }} [TOOL_CALLS] tool_calls', 258",
    "'{{ tools }} [TOOL_CALLS] [ARGS] tool_calls', 258",
    "'{{ tools }} <|python_tag|> tool_calls', 260"
  })
  void a_forced_call_may_begin_with_its_control_token_and_is_read(String template, int marker) {
    Tokenizer tokenizer = withMarkers();
    ToolFormat format = FormatChoice.of(template);
    Tool tool = RandomTools.tool("get_w", Map.of("type", "object"), false);
    Grammar grammar =
        format
            .grammar(
                new AnswerRules(List.of(tool), ToolChoice.REQUIRED, false, Optional.empty()), "")
            .orElseThrow();
    Constraint constraint =
        Constraint.compile(
            grammar,
            TokenTrie.of(tokenizer.vocabularySize(), tokenizer::bytes),
            tokenizer::bytes,
            1 << 20);
    long[] mask = constraint.mask(constraint.start());
    assertThat(mask[marker >> 6] >>> marker & 1).isEqualTo(1);
    String call =
        template.contains("[ARGS]")
            ? "[TOOL_CALLS]get_w[ARGS]{}"
            : marker == 258
                ? "[TOOL_CALLS][{\"name\": \"get_w\", \"arguments\": {}}]"
                : "<|python_tag|>{\"name\": \"get_w\", \"parameters\": {}}";
    AnswerParser parser = format.parser(true, "");
    StringBuilder heard = new StringBuilder();
    Constraint.State state = constraint.start();
    for (int id : tokenizer.encodeWithControl(call)) {
      state = constraint.next(state, id);
      heard.append(new String(tokenizer.bytes(id), StandardCharsets.UTF_8));
    }
    assertThat(state.isOver()).isTrue();
    assertThat(ParsedAnswer.of(parser, List.of(heard.toString()))).hasToString("C[get_w]A[{}]");
  }

  @Test
  void b10_an_end_of_turn_ends_an_answer_although_the_file_names_another_end() {
    GgufFile file =
        bytePair()
            .strings(
                "tokenizer.ggml.tokens",
                "<|endoftext|>",
                "<|im_start|>",
                "<|im_end|>",
                "\u00ef",
                "\u00bf",
                "\u00bd")
            .strings("tokenizer.ggml.merges");
    Tokenizer tokenizer =
        read(kinds(file, 3, 3, 3, 1, 1, 1).integer("tokenizer.ggml.eos_token_id", 0));
    assertThat(tokenizer.eos()).hasValue(0);
    assertThat(tokenizer.endTokens()).containsExactly(0, 2);
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
