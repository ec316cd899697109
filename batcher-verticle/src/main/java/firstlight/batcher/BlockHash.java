package firstlight.batcher;

/** Names a Block by its tokens and everything before them. Equal names prove nothing. */
@FunctionalInterface
interface BlockHash {
  /**
   * @param parent the hash of the Block before, or of the root
   * @param tokens of which those from {@code from} to {@code to} are in the Block
   */
  long of(long parent, int[] tokens, int from, int to);

  /** Fast and well mixed; not proof against somebody who looks for collisions. */
  static long mixed(long parent, int[] tokens, int from, int to) {
    long hash = parent;
    for (int i = from; i < to; i++) {
      hash = (hash ^ tokens[i]) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 32;
    }
    return hash;
  }
}
