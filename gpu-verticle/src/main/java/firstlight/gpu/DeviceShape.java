package firstlight.gpu;

import firstlight.model.Hyperparameters;

/**
 * How large a device is made: what buffers and tables are sized by.
 *
 * @param quantised whether activations become bytes
 */
record DeviceShape(
    int threads,
    int stepTokensMax,
    int contextMax,
    int blocks,
    int blockTokens,
    boolean quantised) {

  static DeviceShape of(Hyperparameters model, GpuConfig config) {
    int tokens = config.blockTokens();
    long blockBytes =
        KvMemory.blockBytes(model.layers(), model.kvHeads(), model.headSize(), tokens);
    long wanted = config.kvBlocks() > 0 ? config.kvBlocks() : config.kvMemoryBytes() / blockBytes;
    long most = KvMemory.blocksMax(model.kvHeads(), model.headSize(), tokens);
    int blocks = (int) Math.clamp(wanted, 1, most);
    long context = Math.min(config.contextMax(), model.contextLength());
    int threads =
        config.threads() > 0 ? config.threads() : Runtime.getRuntime().availableProcessors();
    return new DeviceShape(
        threads,
        config.stepTokensMax(),
        (int) Math.min(context, (long) blocks * tokens),
        blocks,
        tokens,
        config.kernels() == GpuConfig.Kernels.Q8);
  }
}
