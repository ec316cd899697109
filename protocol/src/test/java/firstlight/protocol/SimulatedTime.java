package firstlight.protocol;

import java.time.Duration;

/** Time that passes only when a test says so. */
public final class SimulatedTime implements Time {
  private long nanos = 1_000_000_000L * 1_700_000_000L;

  @Override
  public long epochMillis() {
    return nanos / 1_000_000;
  }

  @Override
  public long nanos() {
    return nanos;
  }

  public void advance(Duration span) {
    nanos += span.toNanos();
  }
}
