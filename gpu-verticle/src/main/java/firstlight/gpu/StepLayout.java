package firstlight.gpu;

/**
 * Where what a Step's kernels are told stands, in bytes from its beginning: the counts, then for
 * each sampled row how it is sampled, then for each row its token, its position and its block
 * table, then which rows are sampled, and the tiles of the attention.
 */
record StepLayout(
    long choices, long tokens, long positions, long tableOf, long wanted, long tiles, long end) {
  static final int COUNTS_BYTES = 4 * Integer.BYTES;

  /** Of {@code Choice} in {@code sample.cuh}. */
  static final int CHOICE_BYTES = 64;

  /** Of {@code Tile} in {@code attention.cuh}. */
  static final int TILE_BYTES = 5 * Integer.BYTES;

  /** Of {@code Answer} in {@code sample.cuh}. */
  static final int ANSWER_BYTES = 2 * Integer.BYTES * (1 + StepLayout.TOP_MAX);

  static final int TOP_MAX = 20;

  /**
   * @param tiles at most
   */
  static StepLayout of(StepBucket bucket, int tiles) {
    long choices = COUNTS_BYTES;
    long tokens = choices + (long) bucket.sampled() * CHOICE_BYTES;
    long rows = (long) bucket.rows() * Integer.BYTES;
    long wanted = tokens + 3 * rows;
    long tileList = wanted + (long) bucket.sampled() * Integer.BYTES;
    return new StepLayout(
        choices,
        tokens,
        tokens + rows,
        tokens + 2 * rows,
        wanted,
        tileList,
        tileList + (long) tiles * TILE_BYTES);
  }
}
