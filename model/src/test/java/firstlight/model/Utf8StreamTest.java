package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Utf8StreamTest {
  private static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  @Test
  void every_split_of_a_text_gives_the_text_in_whole_characters() {
    String text = "a\u00e9\u20ac\ud83d\ude0a\u0000z\ufffd\u0301\ud840\udc00";
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int first = 0; first <= bytes.length; first++) {
      for (int second = first; second <= bytes.length; second++) {
        Utf8Stream stream = new Utf8Stream();
        StringBuilder joined = new StringBuilder();
        int[] cuts = {0, first, second, bytes.length};
        for (int i = 0; i < 3; i++) {
          String part = stream.feed(Arrays.copyOfRange(bytes, cuts[i], cuts[i + 1]));
          assertThat(part.codePoints().noneMatch(c -> c >= 0xD800 && c <= 0xDFFF)).isTrue();
          joined.append(part);
        }
        assertThat(joined.append(stream.flush())).hasToString(text);
      }
    }
  }

  @Test
  void an_incomplete_character_is_held_back_and_replaced_at_the_end() {
    Utf8Stream stream = new Utf8Stream();

    assertThat(stream.feed(bytes('a', 0xF0, 0x9F))).isEqualTo("a");
    assertThat(stream.isPending()).isTrue();
    assertThat(stream.feed(bytes(0x98))).isEmpty();
    assertThat(stream.flush()).isEqualTo("\uFFFD");
    assertThat(stream.isPending()).isFalse();
    assertThat(stream.flush()).isEmpty();
    assertThat(stream.feed(bytes('b'))).isEqualTo("b");
  }

  @Test
  void whatever_the_bytes_are_the_result_does_not_depend_on_how_they_are_cut() {
    long seed = Long.getLong("seed", 20260203L);
    Random random = new Random(seed);
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = new byte[random.nextInt(12)];
      random.nextBytes(bytes);
      for (int i = 0; i < bytes.length; i++) {
        // Mostly bytes that mean something in UTF-8.
        int[] telling = {0x41, 0x80, 0xBF, 0xC1, 0xC3, 0xE0, 0xA0, 0xED, 0xF0, 0x9F, 0xF4, 0x8F};
        bytes[i] = random.nextInt(3) > 0 ? (byte) telling[random.nextInt(12)] : bytes[i];
      }
      Utf8Stream stream = new Utf8Stream();
      int cut = random.nextInt(bytes.length + 1);
      String text =
          stream.feed(Arrays.copyOfRange(bytes, 0, cut))
              + stream.feed(Arrays.copyOfRange(bytes, cut, bytes.length))
              + stream.flush();

      assertThat(text)
          .as("reproduce with: mvn test -Dtest=Utf8StreamTest -Dseed=%d", seed)
          .isEqualTo(decoded(bytes));
    }
  }

  /** As the platform decodes it, but for a surrogate's bytes, of which it counts two as one. */
  private static String decoded(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    int from = 0;
    for (int i = 0; i + 1 < bytes.length; i++) {
      if (bytes[i] == (byte) 0xED && (bytes[i + 1] & 0xE0) == 0xA0) {
        text.append(new String(bytes, from, i - from, StandardCharsets.UTF_8)).append('\uFFFD');
        from = i + 1;
      }
    }
    return text + new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8);
  }

  @Test
  void each_part_that_cannot_be_a_character_is_replaced_once() {
    assertThat(new Utf8Stream().feed(bytes(0xED, 0xA0, 0x80))).isEqualTo("\uFFFD".repeat(3));
    assertThat(new Utf8Stream().feed(bytes(0xF0, 0x9F, 0x98, 'a'))).isEqualTo("\uFFFDa");
    assertThat(new Utf8Stream().feed(bytes(0xC0, 0x80, 0xF5, 0xFF))).isEqualTo("\uFFFD".repeat(4));
    assertThat(new Utf8Stream().feed(bytes(0xE0, 0x80, 0x80))).isEqualTo("\uFFFD".repeat(3));
    assertThat(new Utf8Stream().feed(bytes(0xF4, 0x90, 0x80))).isEqualTo("\uFFFD".repeat(3));
  }
}
