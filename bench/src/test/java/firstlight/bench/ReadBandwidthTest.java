package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Time;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ReadBandwidthTest {
  /** A clock on which each look takes a second. */
  private static final class Slow implements Time {
    private final AtomicLong now = new AtomicLong();

    @Override
    public long epochMillis() {
      return 0;
    }

    @Override
    public long nanos() {
      return now.addAndGet(1_000_000_000);
    }
  }

  @Test
  void bytes_are_counted_over_all_threads_and_repeats() {
    // Two threads read 512 MiB in a second, in parts of half a megabyte.
    assertThat(ReadBandwidth.measure(2, 1 << 20, new Slow())).isEqualTo((512 << 20) / 1e9);
  }
}
