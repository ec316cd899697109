package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FinishReason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StopRuleTest {
  private static final int END = 2;

  /** What went out after each piece of text, and why it ended. */
  private static List<String> feed(List<String> stops, String... pieces) {
    StopRule rule = rule(stops);
    List<String> out = new ArrayList<>();
    for (String piece : pieces) {
      StopRule.Verdict verdict = rule.next(1, bytes(piece), null);
      out.add(text(verdict.text()));
      if (verdict.end() != null) {
        out.add(verdict.end() + " " + text(verdict.stop()));
        return out;
      }
    }
    return out;
  }

  private static StopRule rule(List<String> stops) {
    return new StopRule(stops.stream().map(StopRuleTest::bytes).toList(), new int[] {9, END});
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Test
  void without_stop_strings_all_text_goes_out_at_once() {
    assertThat(feed(List.of(), "ab", "", "c")).containsExactly("ab", "", "c");
  }

  @Test
  void a_stop_string_may_begin_and_end_inside_tokens() {
    assertThat(feed(List.of("3. 3\n4"), "2. 2\n3", ". ", "3", "\n4. 4"))
        .containsExactly("2. 2\n", "", "", "", "STOP 3. 3\n4");
  }

  @Test
  void what_only_began_like_a_stop_string_goes_out_late() {
    assertThat(feed(List.of("abcd"), "xab", "c", "e")).containsExactly("x", "", "abce");
  }

  @Test
  void a_stop_string_that_overlaps_its_own_beginning_is_found() {
    assertThat(feed(List.of("aab"), "aa", "a", "b")).containsExactly("", "a", "", "STOP aab");
  }

  @Test
  void a_stop_string_at_the_very_beginning_gives_empty_text() {
    assertThat(feed(List.of("\n"), "\nhello")).containsExactly("", "STOP \n");
  }

  @Test
  void the_stop_string_that_is_complete_first_wins_and_then_the_longest() {
    assertThat(feed(List.of("abc", "b"), "abc")).containsExactly("a", "STOP b");
    assertThat(feed(List.of("c", "bc"), "abc")).containsExactly("a", "STOP bc");
    assertThat(feed(List.of("zzz", "bc"), "a", "b", "c")).containsExactly("a", "", "", "STOP bc");
  }

  @Test
  void half_a_character_can_be_held_back() {
    byte[] e = bytes("é");
    StopRule rule = rule(List.of("é!"));
    assertThat(rule.next(1, new byte[] {e[0]}, null).text()).isEmpty();
    assertThat(rule.next(1, new byte[] {e[1]}, null).text()).isEmpty();
    assertThat(text(rule.next(1, bytes("?"), null).text())).isEqualTo("é?");
  }

  @Test
  void an_end_token_ends_it_without_text_of_its_own_and_frees_what_was_held() {
    StopRule rule = rule(List.of("abc"));
    rule.next(1, bytes("ab"), null);
    StopRule.Verdict verdict = rule.next(END, bytes("<end>"), FinishReason.LENGTH);
    assertThat(verdict.end()).isEqualTo(FinishReason.END);
    assertThat(text(verdict.text())).isEqualTo("ab");
  }

  @Test
  void the_last_token_frees_what_was_held_unless_it_completes_the_stop_string() {
    StopRule rule = rule(List.of("abc"));
    StopRule.Verdict cut = rule.next(1, bytes("ab"), FinishReason.LENGTH);
    assertThat(cut.end()).isEqualTo(FinishReason.LENGTH);
    assertThat(text(cut.text())).isEqualTo("ab");
    StopRule.Verdict stopped = rule(List.of("abc")).next(1, bytes("xabc"), FinishReason.LENGTH);
    assertThat(stopped.end()).isEqualTo(FinishReason.STOP);
    assertThat(text(stopped.text())).isEqualTo("x");
  }

  @Test
  void how_the_text_is_cut_into_tokens_changes_nothing() {
    Random random = new Random(Long.getLong("seed", 5));
    for (int round = 0; round < 2_000; round++) {
      String text = letters(random, 30);
      List<String> stops = List.of(letters(random, 1 + random.nextInt(5)), letters(random, 3));
      String whole = String.join("|", feed(stops, text));
      List<String> pieces = new ArrayList<>();
      for (int at = 0; at < text.length(); ) {
        int to = Math.min(text.length(), at + random.nextInt(4));
        pieces.add(text.substring(at, to));
        at = to;
      }
      List<String> cut = feed(stops, pieces.toArray(String[]::new));
      boolean stopped = cut.getLast().startsWith("STOP");
      String joined = String.join("", stopped ? cut.subList(0, cut.size() - 1) : cut);
      assertThat(stopped ? joined + "|" + cut.getLast() : joined)
          .as("-Dseed=%d, round %d", Long.getLong("seed", 5), round)
          .isEqualTo(whole);
    }
  }

  private static String letters(Random random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) ('a' + random.nextInt(3)));
    }
    return text.toString();
  }
}
