package firstlight.gpu;

import firstlight.gpu.cuda.Gpu;
import firstlight.model.Hyperparameters;
import java.util.Optional;

/**
 * How many tokens' keys and values a GPU has memory for.
 *
 * @param blocks of them
 * @param contextMax positions that one Sequence may have
 * @param remedy what makes it more
 */
record KvRoom(long blocks, int blockTokens, int contextMax, String remedy) {
  /**
   * With fewer, hardly a request would have room: a chat's template alone takes some thirty tokens.
   * A device that refuses nearly all it is asked is worse than one that says why it is not there.
   */
  static final int TOKENS_MIN = 256;

  private static final String GIVEN_BLOCKS = "Raise gpu.kvBlocks, or lower gpu.contextMax";
  private static final String GIVEN_BYTES = "Raise gpu.cuda.kvMemory, or lower gpu.contextMax";
  private static final String WHAT_IS_FREE =
      "Take smaller weights (another file, or gpu.cuda.weights: fp8), put fewer models on the GPU,"
          + " end what else is on it, or lower gpu.contextMax";

  /** Of a GPU on which all is already but keys and values. */
  static KvRoom on(Gpu gpu, Hyperparameters model, GpuConfig config, KvShare share) {
    int blockTokens = config.blockTokens();
    int contextMax = CudaShape.contextMax(model, config);
    if (config.kvBlocks() > 0) {
      return new KvRoom(config.kvBlocks(), blockTokens, contextMax, GIVEN_BLOCKS);
    }
    long blockBytes = CudaShape.blockBytes(model, blockTokens);
    long given = config.cuda().kvMemoryBytes();
    if (given > 0) {
      return new KvRoom(given / blockBytes, blockTokens, contextMax, GIVEN_BYTES);
    }
    long bytes = Math.max(0, share.of(gpu.free()));
    return new KvRoom(bytes / blockBytes, blockTokens, contextMax, WHAT_IS_FREE);
  }

  private long tokens() {
    return blocks * blockTokens;
  }

  /** Why a device is of no use with so little; none: it is. */
  Optional<String> shortage() {
    int least = Math.min(TOKENS_MIN, contextMax);
    return tokens() >= least
        ? Optional.empty()
        : Optional.of(
            "there is memory for keys and values of %d tokens in all, and %d are the least. %s"
                .formatted(tokens(), least, remedy));
  }

  /** What an operator should know though the device can be used. */
  Optional<String> warning() {
    return tokens() >= contextMax
        ? Optional.empty()
        : Optional.of(
            ("there is memory for keys and values of %d tokens in all, and one Sequence may have %d"
                    + " (gpu.contextMax, or what the model was made for): longer ones are refused,"
                    + " and others wait. %s")
                .formatted(tokens(), contextMax, remedy));
  }
}
