package firstlight.gpu;

import firstlight.protocol.Settings;

/**
 * How a cuda device is set up, beside what all devices have.
 *
 * @param weights how weights are kept
 * @param kvMemoryBytes for keys and values; 0: {@link #KV_SHARE} of what is free with the weights
 * @param graphs whether the launches of a Step go to the GPU as one call
 * @param tensorParallel GPUs that share a model; 1: each has all of it
 */
public record CudaConfig(Weights weights, long kvMemoryBytes, boolean graphs, int tensorParallel) {
  /** The rest is for what the driver itself needs, and for other programs. */
  static final double KV_SHARE = 0.85;

  /** For one GPU alone. */
  CudaConfig(Weights weights, long kvMemoryBytes, boolean graphs) {
    this(weights, kvMemoryBytes, graphs, 1);
  }

  /** Kinds of weights. */
  public enum Weights {
    /** As in the file; floats become bf16. */
    FILE,
    /** All widened to bf16, or narrowed where they are wider. */
    BF16,
    /** Bytes (E4M3) with a scale for each row. */
    FP8
  }

  static CudaConfig read(Settings settings) {
    CudaConfig config =
        new CudaConfig(
            settings.choice("weights", Weights.FILE),
            settings.bytes("kvMemory", 0),
            settings.flag("graphs", true),
            settings.integer("tensorParallel", 1, 1, CudaMatrix.RANGES));
    settings.done();
    settings
        .problems()
        .require(
            Shard.isCount(config.tensorParallel),
            "gpu.cuda.tensorParallel is %d but must be 1, 2, 4 or 8"
                .formatted(config.tensorParallel));
    return config;
  }
}
