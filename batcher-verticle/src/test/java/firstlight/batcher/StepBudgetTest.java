package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class StepBudgetTest {
  private static final double TARGET = 50e6;

  private final StepCost cost = new StepCost();
  private final StepBudget budget = new StepBudget(cost, TARGET, 16);

  /** Half a millisecond a prompt token, one a decoding Sequence. */
  private void learn() {
    for (int i = 1; i < 100; i++) {
      StepLoad load = new StepLoad(i % 7 * 10, i % 11, 0);
      cost.learn(load, 500_000L * load.prefill() + 1_000_000L * load.decodes());
    }
  }

  private void decodes(int count) {
    budget.clear();
    for (int i = 0; i < count; i++) {
      budget.add(1, 0, true);
    }
  }

  @Test
  void as_long_as_nothing_is_known_the_steps_size_is_the_limit() {
    decodes(10);
    assertThat(budget.left(0, 1)).isEqualTo(Integer.MAX_VALUE);
    assertThat(budget.longMax(0)).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void when_nothing_decodes_the_steps_size_is_the_limit() {
    learn();
    decodes(0);
    assertThat(budget.left(0, 1)).isEqualTo(Integer.MAX_VALUE);
    assertThat(budget.longMax(0)).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void beside_those_who_decode_as_many_fit_as_keep_the_target() {
    learn();
    decodes(10);
    // 50 ms less 10 ms leave 40 ms, which are 80 tokens.
    assertThat(budget.left(0, 1)).isCloseTo(80, Offset.offset(4));
    // Half of 50 ms less 10 ms leave 15 ms.
    assertThat(budget.left(0, 0.5)).isCloseTo(30, Offset.offset(4));
    budget.add(30, 0, false);
    assertThat(budget.left(0, 1)).isCloseTo(50, Offset.offset(4));
  }

  @Test
  void a_short_step_is_no_shorter_than_is_worthwhile() {
    learn();
    decodes(20);
    // Twice 20 ms, where two fifths of the target would be used up already.
    assertThat(budget.left(0, 0.4)).isCloseTo(40, Offset.offset(4));
    decodes(40);
    // Never beyond the target.
    assertThat(budget.left(0, 0.4)).isEqualTo(budget.left(0, 1)).isCloseTo(20, Offset.offset(4));
  }

  @Test
  void long_prompts_make_the_step_longer_only_by_a_part() {
    learn();
    decodes(32);
    // Three fifths of 32 ms.
    assertThat(budget.longMax(0)).isCloseTo(38, Offset.offset(4));
  }

  @Test
  void a_few_have_room_whatever_the_load() {
    learn();
    decodes(100);
    assertThat(budget.left(0, 1)).isEqualTo(16);
    budget.add(10, 0, false);
    assertThat(budget.left(0, 1)).isEqualTo(6);
    budget.add(6, 0, false);
    assertThat(budget.left(0, 1)).isZero();
    decodes(1);
    assertThat(budget.longMax(0)).isEqualTo(16);
  }
}
