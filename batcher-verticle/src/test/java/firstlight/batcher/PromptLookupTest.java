package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.batcher.PromptLookup.Match;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PromptLookupTest {
  private final PromptLookup lookup = new PromptLookup();

  private int[] following(int count, int... tokens) {
    Match match = lookup.find(tokens, tokens.length);
    return match.run() == 0 ? new int[0] : match.following(tokens, tokens.length, count);
  }

  @Test
  void what_followed_the_last_tokens_before_is_found() {
    assertThat(following(3, 1, 2, 3, 4, 5, 6, 9, 1, 2, 3)).containsExactly(4, 5, 6);
  }

  @Test
  void the_longest_run_goes_first_and_then_the_latest() {
    assertThat(lookup.find(new int[] {1, 2, 3, 7, 0, 2, 3, 8, 1, 2, 3}, 11))
        .isEqualTo(new Match(3, 3));
    assertThat(new PromptLookup().find(new int[] {2, 3, 7, 0, 2, 3, 8, 1, 2, 3}, 10))
        .isEqualTo(new Match(6, 2));
  }

  @Test
  void one_equal_token_is_not_enough() {
    assertThat(following(3, 1, 2, 3, 4, 3)).isEmpty();
    assertThat(following(3, 5)).isEmpty();
    assertThat(following(3, 5, 5)).isEmpty();
  }

  @Test
  void what_reaches_the_end_goes_on_with_itself() {
    assertThat(following(5, 8, 1, 2, 1, 2)).containsExactly(1, 2, 1, 2, 1);
  }

  @Test
  void tokens_that_come_later_are_learned() {
    int[] tokens = {1, 2, 3, 4, 0, 0, 0};
    assertThat(lookup.find(tokens, 4)).isEqualTo(Match.NONE);
    tokens[4] = 2;
    assertThat(lookup.find(tokens, 5)).isEqualTo(Match.NONE);
    tokens[5] = 3;
    assertThat(lookup.find(tokens, 6)).isEqualTo(new Match(3, 2));
    tokens[6] = 9;
    lookup.find(tokens, 7);
    assertThat(lookup.find(new int[] {1, 2, 3, 4, 2, 3, 9, 2, 3}, 9)).isEqualTo(new Match(6, 2));
  }

  /** A cache may forget, so a match is checked, and most must be there. */
  @Test
  void a_match_is_always_true_and_seldom_missed_however_long_the_history() {
    Random random = new Random(Long.getLong("seed", 5));
    int[] tokens = random.ints(20_000, 0, 100).toArray();
    int found = 0;
    for (int length = 1; length <= tokens.length; length++) {
      Match match = lookup.find(tokens, length);
      if (match.run() > 0) {
        found++;
        assertThat(match.end()).isLessThan(length);
        assertThat(Arrays.copyOfRange(tokens, match.end() - match.run(), match.end()))
            .isEqualTo(Arrays.copyOfRange(tokens, length - match.run(), length));
      }
    }
    // A pair of a hundred tokens is new for the first ten thousand or so.
    assertThat(found).isGreaterThan(8_000);
  }
}
