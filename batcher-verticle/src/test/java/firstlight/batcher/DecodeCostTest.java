package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class DecodeCostTest {
  private final DecodeCost cost = new DecodeCost();

  @Test
  void before_any_step_a_token_costs_half_of_the_first() {
    assertThat(cost.tokenNanos() / cost.stepNanos(1)).isEqualTo(0.5);
    for (int i = 0; i < 100; i++) {
      cost.note(1, 4_000);
    }
    assertThat(cost.stepNanos(1)).isCloseTo(4_000, within(1.0));
    assertThat(cost.tokenNanos()).isCloseTo(2_000, within(1.0));
  }

  @Test
  void the_price_of_a_token_is_found_from_steps_of_different_sizes() {
    Random random = new Random(Long.getLong("seed", 1));
    for (int i = 0; i < 200; i++) {
      int tokens = 1 + random.nextInt(8);
      cost.note(tokens, 3_000 + 500 * tokens + random.nextInt(100));
    }
    assertThat(cost.tokenNanos()).isCloseTo(500, within(20.0));
    assertThat(cost.stepNanos(4)).isCloseTo(5_050, within(60.0));
    // Sizes that stay the same teach nothing new about it.
    for (int i = 0; i < 1_000; i++) {
      cost.note(2, 4_000);
    }
    assertThat(cost.tokenNanos()).isCloseTo(500, within(60.0));
  }

  @Test
  void a_token_never_costs_less_than_nothing_or_more_than_the_average() {
    for (int i = 0; i < 50; i++) {
      cost.note(1 + i % 4, 9_000 - 1_000 * (i % 4));
    }
    // A line through these would promise that Steps get shorter.
    assertThat(cost.tokenNanos()).isZero();
    for (int i = 0; i < 400; i++) {
      cost.note(1 + i % 4, 1_000L * (i % 4) * (i % 4));
    }
    assertThat(cost.tokenNanos()).isCloseTo(1_400, within(50.0));
  }
}
