package firstlight.feedback;

/** How long to wait after so many failures in a row: twice as long each time, up to a limit. */
final class Backoff {
  private static final long FIRST_MS = 100;
  private static final long MAX_MS = 5_000;
  private static final int DOUBLINGS_MAX = 10;

  private int failures;

  long nextMillis() {
    long wait = FIRST_MS << Math.min(failures, DOUBLINGS_MAX);
    failures++;
    return Math.min(wait, MAX_MS);
  }

  void reset() {
    failures = 0;
  }
}
