package firstlight.gpu;

import firstlight.protocol.Settings;

/**
 * How a cuda device is set up, beside what all devices have.
 *
 * @param weights how weights are kept
 * @param kvMemoryBytes for keys and values; 0: {@link #KV_SHARE} of what is free with the weights
 * @param graphs whether the launches of a Step go to the GPU as one call
 * @param products who makes the large ones
 * @param tensorParallel GPUs that share a model; 1: each has all of it
 */
public record CudaConfig(
    Weights weights, long kvMemoryBytes, boolean graphs, Products products, int tensorParallel) {
  /** The rest is for what the driver itself needs, and for other programs. */
  static final double KV_SHARE = 0.85;

  /** With our own products, for one GPU alone. */
  CudaConfig(Weights weights, long kvMemoryBytes, boolean graphs) {
    this(weights, kvMemoryBytes, graphs, Products.OWN, 1);
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

  /** Who multiplies weights and many tokens. */
  public enum Products {
    /** Our kernels: the same bits whatever else is in a Step. */
    OWN,
    /** NVIDIA's library, where weights are bf16. Bits depend on what else is in a Step. */
    CUBLASLT
  }

  static CudaConfig read(Settings settings) {
    CudaConfig config =
        new CudaConfig(
            settings.choice("weights", Weights.FILE),
            settings.bytes("kvMemory", 0),
            settings.flag("graphs", true),
            settings.choice("products", Products.OWN),
            settings.integer("tensorParallel", 1, 1, CudaMatrix.RANGES));
    settings.done();
    settings
        .problems()
        .require(
            config.products == Products.OWN || config.weights != Weights.FP8,
            "gpu.cuda.products is cublaslt, which multiplies bf16 only, but gpu.cuda.weights is"
                + " fp8: set weights: bf16, or products: own");
    settings
        .problems()
        .require(
            Shard.isCount(config.tensorParallel),
            "gpu.cuda.tensorParallel is %d but must be 1, 2, 4 or 8"
                .formatted(config.tensorParallel));
    settings
        .problems()
        .require(
            config.products == Products.OWN || config.tensorParallel == 1,
            "gpu.cuda.products is cublaslt, which does not leave sums apart for other GPUs to add,"
                + " but gpu.cuda.tensorParallel is %d: set products: own, or tensorParallel: 1"
                    .formatted(config.tensorParallel));
    return config;
  }
}
