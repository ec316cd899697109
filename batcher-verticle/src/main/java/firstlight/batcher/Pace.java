package firstlight.batcher;

/** How fast the device gets through tokens lately, and so how long a backlog will take. */
final class Pace {
  private static final double WEIGHT_OF_NEWEST = 0.1;
  private static final long WAIT_MIN_MILLIS = 1_000;
  private static final long WAIT_MAX_MILLIS = 60_000;

  private double tokensPerNano;

  void note(int tokens, long nanos) {
    double newest = tokens / (double) Math.max(1, nanos);
    tokensPerNano =
        tokensPerNano == 0 ? newest : tokensPerNano + WEIGHT_OF_NEWEST * (newest - tokensPerNano);
  }

  /** When to try again behind that many tokens: at least a second, and never very long. */
  long retryAfterMillis(long tokens) {
    if (tokensPerNano == 0) {
      return WAIT_MIN_MILLIS;
    }
    double millis = tokens / tokensPerNano / 1e6;
    return (long) Math.clamp(millis, WAIT_MIN_MILLIS, WAIT_MAX_MILLIS);
  }
}
