package firstlight.gpu;

/**
 * How large the launches of a Step are. Steps of a bucket share them, and end early where they have
 * less, so that there are few to prepare.
 *
 * @param rows tokens at most; a power of two, or all that the device takes
 * @param sampled the same; may be 0
 * @param splits of the context that blocks take each; 1: a block takes all
 */
record StepBucket(int rows, int sampled, int splits) {

  /** The smallest power of two that is enough, up to a limit. */
  static int enough(int count, int limit) {
    if (count <= 1) {
      return count;
    }
    return Math.min(limit, Integer.highestOneBit(count - 1) << 1);
  }
}
