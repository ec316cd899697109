package firstlight.edge;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * How long to wait after so many failures in a row: about twice as long each time, up to a limit,
 * and never quite the same, so that those who failed together do not come back together.
 */
final class Backoff {
  private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int DOUBLINGS_MAX = 10;

  private final RandomGenerator random;
  private int failures;

  Backoff(RandomGenerator random) {
    this.random = random;
  }

  long nextNanos() {
    long longest = Math.min(MAX_NANOS, FIRST_NANOS << Math.min(failures, DOUBLINGS_MAX));
    failures++;
    return random.nextLong(longest / 2, longest);
  }

  void reset() {
    failures = 0;
  }
}
