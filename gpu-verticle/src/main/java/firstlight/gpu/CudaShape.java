package firstlight.gpu;

import firstlight.model.Hyperparameters;

/**
 * How large a cuda device is made.
 *
 * @param blocks of KV memory
 */
record CudaShape(int stepTokensMax, int contextMax, int blocks, int blockTokens, int group) {
  /**
   * Positions that a block takes where the splits of a context are dealt out, as in the kernels.
   */
  static final int SPLIT = 256;

  /** Queries of a tile, as in the kernels. */
  static final int QUERIES = 16;

  /** Rows whose logits are there at a time. */
  private static final int LOGIT_ROWS_MAX = 256;

  /** Tiles times splits, where these are dealt out. */
  static final int DEALT_MAX = 1024;

  /** The splits that are dealt out; 1: a block takes all of a tile. */
  static int dealt(int tiles, int splits) {
    return (long) tiles * splits <= DEALT_MAX ? splits : 1;
  }

  /**
   * @param blocks of KV memory that there is room for
   */
  static CudaShape of(Hyperparameters model, GpuConfig config, long blocks) {
    int count = Math.clamp(blocks, 1, GpuConfig.BLOCKS_MAX);
    return new CudaShape(
        config.stepTokensMax(),
        (int) Math.min(contextMax(model, config), (long) count * config.blockTokens()),
        count,
        config.blockTokens(),
        model.heads() / model.kvHeads());
  }

  static int contextMax(Hyperparameters model, GpuConfig config) {
    return Math.min(config.contextMax(), model.contextLength());
  }

  /** Bytes of a Block over all layers. */
  static long blockBytes(Hyperparameters model, int blockTokens) {
    return 2L * model.layers() * model.kvHeads() * model.headSize() * blockTokens * Short.BYTES;
  }

  /** Tiles that so many rows make at most. */
  int tiles(int rows) {
    return rows * ((group + QUERIES - 1) / QUERIES);
  }

  int logitRows() {
    return Math.min(LOGIT_ROWS_MAX, stepTokensMax);
  }

  StepBucket bucket(int rows, int sampled, int splits) {
    return new StepBucket(
        StepBucket.enough(rows, stepTokensMax), StepBucket.enough(sampled, stepTokensMax), splits);
  }
}
