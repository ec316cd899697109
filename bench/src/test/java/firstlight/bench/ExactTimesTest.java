package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ExactTimesTest {
  private final ExactTimes times = new ExactTimes("looked");

  @Test
  void each_value_of_the_timer_is_kept_to_the_nanosecond_and_handed_out_once() {
    times.timer("looked", "tier", "local").record(1_234, TimeUnit.NANOSECONDS);
    times.timer("looked", "tier", "redis").record(2, TimeUnit.MILLISECONDS);
    times.timer("else").record(3, TimeUnit.MILLISECONDS);
    assertThat(times.takeMillis()).containsExactly(0.001_234, 2.0);
    assertThat(times.takeMillis()).isEmpty();
    assertThat(times.timer("looked", "tier", "redis").count()).isEqualTo(1);
  }
}
