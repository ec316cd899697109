package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class DrainTest {
  private static final long STEP = 100_000_000L;

  private final Drain drain = new Drain();

  private double perSecond(double expected) {
    return 1e9 * drain.rate(expected / 1e9);
  }

  @Test
  void as_long_as_nothing_was_measured_it_is_what_is_expected() {
    assertThat(perSecond(1_234)).isCloseTo(1_234, Percentage.withPercentage(1));
    drain.note(100, STEP, false);
    assertThat(perSecond(1_234)).isCloseTo(1_234, Percentage.withPercentage(1));
  }

  @Test
  void it_is_the_tokens_that_got_done_while_others_waited() {
    for (int i = 0; i < 200; i++) {
      drain.note(50, STEP, true);
      drain.note(0, STEP, true);
      drain.note(1_000, STEP, false);
    }
    assertThat(perSecond(9_999)).isCloseTo(250, Percentage.withPercentage(5));
  }

  @Test
  void the_latest_seconds_count_most() {
    for (int i = 0; i < 600; i++) {
      drain.note(50, STEP, true);
    }
    for (int i = 0; i < 200; i++) {
      drain.note(100, STEP, true);
    }
    assertThat(perSecond(1)).isBetween(900.0, 1_000.0);
  }
}
