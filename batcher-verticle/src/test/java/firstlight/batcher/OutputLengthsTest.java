package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.TenantId;
import org.junit.jupiter.api.Test;

class OutputLengthsTest {
  private static final TenantId A = new TenantId("a");
  private static final TenantId B = new TenantId("b");

  private final OutputLengths outputs = new OutputLengths(0.9, 16, 2);

  private void ended(TenantId tenant, int output, int times) {
    for (int i = 0; i < times; i++) {
      outputs.ended(tenant, output);
    }
  }

  @Test
  void as_long_as_nothing_is_known_it_guesses_but_never_more_than_is_allowed() {
    assertThat(outputs.expected(A, 8_000)).isEqualTo(256);
    assertThat(outputs.expected(A, 20)).isEqualTo(20);
  }

  @Test
  void it_learns_a_high_quantile_and_the_mean() {
    ended(A, 50, 57);
    ended(A, 800, 7);
    assertThat(outputs.expected(A, 8_000)).isEqualTo(800);
    ended(A, 50, 1);
    assertThat(outputs.expected(A, 8_000)).isEqualTo(800);
    assertThat(outputs.mean(A, 8_000)).isBetween(100, 140);
    ended(A, 50, 64);
    assertThat(outputs.expected(A, 8_000)).isEqualTo(50);
  }

  @Test
  void tenants_are_told_apart_and_a_new_one_is_taken_for_all_together() {
    ended(A, 30, 90);
    ended(B, 400, 10);
    assertThat(outputs.expected(A, 8_000)).isEqualTo(30);
    assertThat(outputs.expected(B, 8_000)).isEqualTo(400);
    assertThat(outputs.expected(new TenantId("new"), 8_000)).isEqualTo(400);
  }

  @Test
  void only_so_many_tenants_are_remembered() {
    ended(A, 30, 20);
    ended(B, 400, 20);
    ended(new TenantId("c"), 400, 200);
    assertThat(outputs.expected(A, 8_000)).isEqualTo(400);
  }

  @Test
  void no_answer_is_expected_to_be_shorter_than_the_floor() {
    ended(A, 1, 20);
    assertThat(outputs.expected(A, 8_000)).isEqualTo(16);
    assertThat(outputs.expected(A, 3)).isEqualTo(3);
  }

  @Test
  void it_goes_on_for_ever() {
    ended(A, Integer.MAX_VALUE, 10_000);
    assertThat(outputs.mean(A, Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
  }
}
