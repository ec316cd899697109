package firstlight.lake;

import firstlight.protocol.Time;
import java.time.Duration;

/** The machine's clock, which a test may set forward. */
final class LateTime implements Time {
  private volatile long aheadMillis;

  void advance(Duration span) {
    aheadMillis += span.toMillis();
  }

  @Override
  public long epochMillis() {
    return System.currentTimeMillis() + aheadMillis;
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }
}
