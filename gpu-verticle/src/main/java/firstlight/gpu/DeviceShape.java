package firstlight.gpu;

import firstlight.model.Hyperparameters;

/**
 * How large a device is made: what buffers and tables are sized by.
 *
 * @param kv what a Block holds
 * @param quantised whether activations become bytes
 */
record DeviceShape(
    int threads,
    int stepTokensMax,
    int contextMax,
    int blocks,
    KvMemory.Shape kv,
    boolean quantised) {

  static DeviceShape of(Hyperparameters model, GpuConfig config) {
    int tokens = config.blockTokens();
    boolean quantised = config.kernels() == GpuConfig.Kernels.Q8;
    KvMemory.Shape kv =
        new KvMemory.Shape(
            model.layers(),
            model.kvHeads(),
            model.headSize(),
            tokens,
            quantised ? config.kvType() : GpuConfig.KvType.F32);
    long wanted =
        config.kvBlocks() > 0 ? config.kvBlocks() : config.kvMemoryBytes() / kv.blockBytes();
    int blocks = Math.clamp(wanted, 1, GpuConfig.BLOCKS_MAX);
    long context = Math.min(config.contextMax(), model.contextLength());
    int threads =
        config.threads() > 0 ? config.threads() : Runtime.getRuntime().availableProcessors();
    return new DeviceShape(
        threads,
        config.stepTokensMax(),
        (int) Math.min(context, (long) blocks * tokens),
        blocks,
        kv,
        quantised);
  }

  /** What decides the numbers, beside the width of the vectors. */
  String kernels() {
    if (!quantised) {
      return "float32";
    }
    return kv.type() == GpuConfig.KvType.F16 ? "q8-kv16" : "q8";
  }
}
