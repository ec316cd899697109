package firstlight.app.planted;

/** Breaks a rule on purpose, so that a test sees it found. */
public final class Clock {
  private Clock() {}

  /** Reads the machine's clock where time should be injected. */
  public static long now() {
    return System.nanoTime();
  }
}
