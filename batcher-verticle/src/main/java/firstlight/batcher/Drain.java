package firstlight.batcher;

/**
 * How fast the backlog of prompts goes down, measured: prompt tokens computed per nanosecond while
 * others waited. It holds whatever keeps prompts from getting on: the device's speed, the Steps'
 * budget, Blocks or the number of Sequences that may run.
 */
final class Drain {
  /** The time after which what was measured weighs half. */
  private static final double HALF_NANOS = 5e9;

  private double tokens;
  private double nanos;

  /**
   * A Step has been run.
   *
   * @param prefill tokens of prompts in it
   * @param took until the next one can begin
   * @param backlog whether prompts were left over for the next one
   */
  void note(int prefill, long took, boolean backlog) {
    if (backlog && took > 0) {
      double kept = Math.pow(0.5, took / HALF_NANOS);
      tokens = tokens * kept + prefill;
      nanos = nanos * kept + took;
    }
  }

  /**
   * Tokens per nanosecond.
   *
   * @param expected what it should be as long as too little was measured
   */
  double rate(double expected) {
    double weight = Math.min(1, nanos / HALF_NANOS);
    return nanos == 0 ? expected : weight * (tokens / nanos) + (1 - weight) * expected;
  }
}
