package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class OpenLoopTest {
  private static final long SECOND = 1_000_000_000;

  private static Answer served(long sent, long first, long second) {
    return new Answer(sent, 200, -1, List.of(first, second), second, 200, 64, "");
  }

  private static Answer refused(int status) {
    return new Answer(0, status, 100, List.of(), SECOND, -1, -1, status + ": full");
  }

  @Test
  void arrivals_come_at_the_wanted_rate_and_are_the_same_for_the_same_seed() {
    List<Long> arrivals = Arrivals.of(50, 200, new SplittableRandom(7));
    assertThat(arrivals).isSorted().isEqualTo(Arrivals.of(50, 200, new SplittableRandom(7)));
    // A Poisson process of 10,000 deviates by 100; five times that is no chance.
    assertThat((double) arrivals.size()).isCloseTo(10_000, within(500.0));
    assertThat(arrivals.getLast()).isBetween(198_000L, 200_000L);
  }

  @Test
  void arrivals_are_not_evenly_spaced() {
    List<Long> arrivals = Arrivals.of(10, 100, new SplittableRandom(7));
    long close = 0;
    for (int i = 1; i < arrivals.size(); i++) {
      close += arrivals.get(i) - arrivals.get(i - 1) < 100 ? 1 : 0;
    }
    // Of exponential pauses, 1 - 1/e are shorter than their mean.
    assertThat((double) close / arrivals.size()).isCloseTo(0.632, within(0.05));
  }

  @Test
  void figures_tell_refusals_and_second_visits_apart() {
    OpenLoopFigures figures =
        new OpenLoopFigures(
            List.of(
                new Visit(List.of(served(0, SECOND, 2 * SECOND))),
                new Visit(List.of(refused(503), served(0, 3 * SECOND, 4 * SECOND))),
                new Visit(List.of(refused(429), refused(429))),
                new Visit(List.of(refused(429))),
                new Visit(List.of(new Answer(0, 0, -1, List.of(), 0, -1, -1, "reset")))),
            0,
            10);
    assertThat(figures.refused()).isEqualTo(3);
    assertThat(figures.cameAgain()).isEqualTo(2);
    assertThat(figures.admittedAgain()).isEqualTo(0.5);
    assertThat(figures.failed()).isEqualTo(1);
    assertThat(figures.failure()).contains("reset");
    assertThat(figures.firstToken(99)).isEqualTo(3);
  }

  @Test
  void goodput_is_what_came_in_the_span_of_answers_that_began_in_time() {
    OpenLoopFigures figures =
        new OpenLoopFigures(
            List.of(
                new Visit(List.of(served(0, SECOND, 2 * SECOND))),
                // Its second piece comes after the span.
                new Visit(List.of(served(0, SECOND, 20 * SECOND))),
                new Visit(List.of(served(0, 6 * SECOND, 7 * SECOND)))),
            0,
            10);
    assertThat(figures.goodput(5)).isEqualTo((64 + 32) / 10.0);
    assertThat(figures.goodput(6)).isEqualTo((64 + 32 + 64) / 10.0);
  }

  @Test
  void nobody_admitted_has_no_time_to_the_first_token() {
    OpenLoopFigures none = new OpenLoopFigures(List.of(new Visit(List.of(refused(503)))), 0, 10);
    assertThat(none.firstToken(99)).isNaN();
    assertThat(none.goodput(5)).isZero();
    assertThat(none.admittedAgain()).isEqualTo(1);
  }
}
