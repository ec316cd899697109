package firstlight.gpu;

/**
 * Chance as a function: the number for a position depends on the seed and the position alone, so a
 * generation that is run again, from anywhere, draws the same. Both go through the finalizer of
 * SplitMix64 (Steele, Lea and Flood, 2014), the position added to the mixed seed as a counter.
 */
final class Draws {
  static final long GAMMA = 0x9E3779B97F4A7C15L;
  private static final double UNIT = 0x1p-53;

  private Draws() {}

  /** A number in [0, 1). */
  static double uniform(long seed, int position) {
    return (mix(mix(seed + GAMMA) + GAMMA * (position + 1L)) >>> 11) * UNIT;
  }

  /** SplitMix64's finalizer. */
  static long mix(long z) {
    long first = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    long second = (first ^ first >>> 27) * 0x94D049BB133111EBL;
    return second ^ second >>> 31;
  }
}
