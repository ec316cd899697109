package firstlight.lake;

import firstlight.protocol.Time;
import java.time.Duration;

/** The machine's clock, which a test may set forward. */
final class LateTime implements Time {
  private volatile long aheadMillis;

  /** A clock that stands still. */
  static Time stopped(long epochMillis) {
    return new Time() {
      @Override
      public long epochMillis() {
        return epochMillis;
      }

      @Override
      public long nanos() {
        return epochMillis * 1_000_000;
      }
    };
  }

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
