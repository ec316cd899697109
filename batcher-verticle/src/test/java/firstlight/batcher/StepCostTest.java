package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class StepCostTest {
  private final Random random = new Random(1);
  private final StepCost cost = new StepCost();

  /** A device with a price for everything. */
  private static long price(StepLoad load, double slow) {
    double micros = 2_000 + 500.0 * load.prefill() + 900.0 * load.decodes() + 0.1 * load.attended();
    return (long) (1_000 * slow * micros);
  }

  private StepLoad anyLoad() {
    StepLoad load = StepLoad.NOTHING;
    for (int i = random.nextInt(20); i > 0; i--) {
      load = load.plus(1, random.nextInt(500), true);
    }
    return load.plus(1 + random.nextInt(100), random.nextInt(1000), false);
  }

  private void learn(int steps, double slow) {
    for (int i = 0; i < steps; i++) {
      StepLoad load = anyLoad();
      cost.learn(load, price(load, slow));
    }
  }

  private void assertLearned(double slow, int percent) {
    for (int i = 0; i < 20; i++) {
      StepLoad load = anyLoad();
      assertThat(cost.nanos(load)).isCloseTo(price(load, slow), Percentage.withPercentage(percent));
    }
  }

  @Test
  void it_learns_what_each_part_of_a_step_costs() {
    learn(200, 1);
    assertLearned(1, 5);
    assertThat(cost.promptTokenNanos(0)).isCloseTo(500_000, Percentage.withPercentage(10));
  }

  @Test
  void nothing_is_known_before_some_steps_were_seen() {
    assertThat(cost.known()).isFalse();
    learn(8, 1);
    assertThat(cost.known()).isTrue();
  }

  @Test
  void slow_first_steps_are_forgotten() {
    learn(8, 20);
    learn(150, 1);
    assertLearned(1, 5);
  }

  @Test
  void a_hiccup_does_not_make_the_device_look_slow() {
    learn(200, 1);
    StepLoad load = anyLoad();
    cost.learn(load, 50 * price(load, 1));
    assertLearned(1, 15);
  }

  @Test
  void a_device_that_has_become_slower_is_noticed_within_some_fifty_steps() {
    learn(200, 1);
    learn(60, 2.5);
    assertLearned(2.5, 30);
  }

  @Test
  void no_price_is_negative_whatever_the_steps_say() {
    for (int i = 0; i < 500; i++) {
      cost.learn(anyLoad(), random.nextLong(1, 100_000_000));
      assertThat(cost.nanos(new StepLoad(100, 0, 0)))
          .isGreaterThanOrEqualTo(cost.nanos(StepLoad.NOTHING));
      assertThat(cost.promptTokenNanos(1000)).isGreaterThanOrEqualTo(0);
    }
  }
}
