package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TokenizerTest {
  /** One of each kind, and the two models that are served. */
  private enum Known {
    SMOLLM2(References.tokenizer(TestModels.smollm2())),
    GEMMA3(References.tokenizer(TestModels.gemma3())),
    LLAMA_BPE(References.vocabulary("llama-bpe")),
    LLAMA_SPM(References.vocabulary("llama-spm"));

    final Tokenizer tokenizer;

    Known(Tokenizer tokenizer) {
      this.tokenizer = tokenizer;
    }

    boolean isSentencePiece() {
      return this == GEMMA3 || this == LLAMA_SPM;
    }

    /**
     * The text that the ids stand for: a blank may be set before it, a U+2581 counts as one, and
     * SmolLM2 cannot spell some control characters and the planes 4 to 11.
     */
    String normal(String text) {
      if (this == SMOLLM2) {
        return text.replaceAll("[\\x04\\x06\\x13\\x14\\x16\\x1d\\x{40000}-\\x{BFFFF}]", "\uFFFD");
      }
      String normal = isSentencePiece() ? text.replace('\u2581', ' ') : text;
      return this == LLAMA_SPM ? " " + normal : normal;
    }
  }

  private static String decoded(Tokenizer tokenizer, int[] ids) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    IntStream.of(ids).forEach(id -> bytes.writeBytes(tokenizer.bytes(id)));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static String randomText(Random random) {
    StringBuilder text = new StringBuilder();
    int length = 1 + random.nextInt(40);
    for (int i = 0; i < length; i++) {
      switch (random.nextInt(8)) {
        case 0 -> text.append(" \t\n\r\u00a0\u3000 ".charAt(random.nextInt(7)));
        case 1 -> text.append((char) random.nextInt(0x80));
        case 2 -> text.append((char) random.nextInt(0xD800));
        case 3 -> text.appendCodePoint(0x10000 + random.nextInt(0x100000));
        case 4 -> text.append("<|im_end|>", 0, random.nextInt(11));
        case 5 -> text.append("<end_of_turn>'s<0x41>\u2581", 0, random.nextInt(22));
        default -> text.append("the quick 123", 0, random.nextInt(14));
      }
    }
    return text.toString();
  }

  @ParameterizedTest
  @EnumSource(Known.class)
  void ids_decode_back_byte_for_byte_and_hold_no_control_token(Known known) {
    long seed = Long.getLong("seed", 20260203L);
    Random random = new Random(seed);
    for (int round = 0; round < 2000; round++) {
      String text = randomText(random);
      int[] ids = known.tokenizer.encode(text);

      assertThat(decoded(known.tokenizer, ids))
          .as("reproduce with: mvn test -Dtest=TokenizerTest -Dseed=%d", seed)
          .isEqualTo(known.normal(text));
      assertThat(IntStream.of(ids).anyMatch(known.tokenizer::isControl)).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Hello world! 123, 19556 905 17 216 33 34 35",
    "'1,234.50', 33 28 34 35 36 30 37 32",
    "x\u00b2y, 104 19133 105",
    "\u00bd cup \u096a\u0968 \u2167, 16738 7118 216 9310 120 9310 118 216 173 223 117",
    "e\u0301, 85 151 219",
    "'\u200b\u00a0x', 321 229 15442 104",
    "'\ufeffhi', 186 136 140 6004",
  })
  void b04_smollm2_cuts_text_as_its_own_pre_tokenizer(String text, String ids) {
    check(Known.SMOLLM2, text, ids);
  }

  @Test
  void b04_blanks_and_line_ends_are_cut_as_by_the_models_own_pre_tokenizers() {
    check(Known.SMOLLM2, "a\n\n\nb", "81 1116 198 82");
    check(Known.SMOLLM2, "\n\n  b", "8866 278");
    check(Known.SMOLLM2, "tab\tend   ", "15999 197 486 333");
    check(Known.SMOLLM2, "don't DON'T I'LL", "12420 982 422 2154 23 68 339 23 16421");
    check(Known.GEMMA3, "tab\tend   ", "4823 255968 643 139");
    check(Known.GEMMA3, "a\n\n\nb", "236746 109 236763");
    check(
        Known.GEMMA3,
        "Hello world! Caf\u00e9 d\u00e9j\u00e0 vu \u2014 123 \ud83d\ude0a",
        "9259 1902 236888 62367 29234 11042 2192 236743 236770 236778 236800 103453");
  }

  private static void check(Known known, String text, String ids) {
    int[] expected = Arrays.stream(ids.split(" ")).mapToInt(Integer::parseInt).toArray();
    assertThat(known.tokenizer.encode(text)).as(text).isEqualTo(expected);
  }

  @Test
  void b02_raw_prompts_begin_as_the_file_says() {
    assertThat(Known.SMOLLM2.tokenizer.encodePrompt("hello")).containsExactly(28120);
    String chat = "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n";
    assertThat(Known.SMOLLM2.tokenizer.encodePrompt(chat))
        .containsExactly(1, 4093, 198, 28120, 2, 198, 1, 520, 9531, 198);
    assertThat(Known.SMOLLM2.tokenizer.encode(chat)).hasSize(28);
    assertThat(Known.GEMMA3.tokenizer.encodePrompt("hello")).containsExactly(2, 23391);
    assertThat(Known.GEMMA3.tokenizer.encodePrompt("<bos>hello")).containsExactly(2, 23391);
  }

  @Test
  void b10_all_ends_of_turns_and_texts_end_an_answer() {
    assertThat(Known.SMOLLM2.tokenizer.endTokens()).containsExactly(0, 2);
    assertThat(Known.GEMMA3.tokenizer.endTokens()).contains(1, 106);
    assertThat(Known.LLAMA_BPE.tokenizer.endTokens()).contains(128001, 128009);
    assertThat(Known.SMOLLM2.tokenizer.bos()).hasValue(1);
    assertThat(Known.SMOLLM2.tokenizer.eos()).hasValue(2);
  }

  @Test
  void a_control_token_has_a_text_but_no_bytes() {
    Tokenizer tokenizer = Known.SMOLLM2.tokenizer;
    assertThat(tokenizer.isControl(2)).isTrue();
    assertThat(tokenizer.text(2)).isEqualTo("<|im_end|>");
    assertThat(tokenizer.bytes(2)).isEmpty();
    assertThat(tokenizer.isControl(28120)).isFalse();
    assertThat(tokenizer.text(905)).isEqualTo(" world");
    for (int id : new int[] {-1, tokenizer.vocabularySize()}) {
      assertThatThrownBy(() -> tokenizer.bytes(id)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void unpaired_surrogates_are_replacement_characters() {
    for (Known known : Known.values()) {
      assertThat(known.tokenizer.encode("a\ud83db\ude0a"))
          .isEqualTo(known.tokenizer.encode("a\ufffdb\ufffd"));
    }
  }

  @ParameterizedTest
  @EnumSource(Known.class)
  void long_texts_take_time_in_proportion(Known known) {
    int length = 1 << 18;
    List<String> texts =
        List.of(
            "a".repeat(length),
            " ".repeat(length) + "x",
            "\n ".repeat(length / 2),
            "'".repeat(length),
            "<|im_start".repeat(length / 10),
            "\ud83d\ude0a".repeat(length / 2));
    // Quadratic work would take minutes; the limit is for a machine busy with other things.
    Assertions.assertTimeoutPreemptively(
        Duration.ofSeconds(30),
        () -> {
          for (String text : texts) {
            int[] ids = known.tokenizer.encode(text);
            assertThat(decoded(known.tokenizer, ids)).isEqualTo(known.normal(text));
          }
        });
  }

  @Test
  void threads_do_not_disturb_each_other() {
    Tokenizer tokenizer = Known.SMOLLM2.tokenizer;
    List<String> texts =
        IntStream.range(0, 2000).mapToObj(i -> "word" + i % 700 + " other" + i % 300).toList();
    List<int[]> alone = texts.stream().map(tokenizer::encode).toList();

    List<int[]> together = texts.parallelStream().map(tokenizer::encode).toList();

    for (int i = 0; i < texts.size(); i++) {
      assertThat(together.get(i)).isEqualTo(alone.get(i));
    }
  }
}
