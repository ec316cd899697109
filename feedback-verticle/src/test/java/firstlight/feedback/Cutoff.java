package firstlight.feedback;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/** A moment at which the lake is cut off, store and tables at once, for some calls or for ever. */
final class Cutoff {
  private final AtomicInteger stepsLeft;
  private final AtomicInteger failuresLeft;

  /**
   * @param steps so many objects and appends are made; the answer to the last does not come back
   * @param failures then so many calls fail, before all is well again
   */
  Cutoff(int steps, int failures) {
    stepsLeft = new AtomicInteger(steps);
    failuresLeft = new AtomicInteger(failures);
  }

  boolean reached() {
    return stepsLeft.get() <= 0;
  }

  boolean healed() {
    return failuresLeft.get() <= 0;
  }

  /** Before a call. */
  void check() throws IOException {
    if (reached() && failuresLeft.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new IOException("cut off");
    }
  }

  /** After a step was made. */
  void passed() throws IOException {
    if (stepsLeft.decrementAndGet() == 0) {
      throw new IOException("cut off before the answer came");
    }
  }
}
