package firstlight.app;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Looks again and again until something holds, at most for a while. */
final class Eventually {
  private static final long PAUSE_NANOS = Duration.ofMillis(50).toNanos();

  private Eventually() {}

  static void holds(Duration limit, String what, Callable<Boolean> condition) throws Exception {
    long end = System.nanoTime() + limit.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("after %s still not: %s".formatted(limit, what));
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
