package firstlight.protocol;

/**
 * What a device can hold and do.
 *
 * @param model the name of the model it has loaded
 * @param blocks number of Blocks of KV memory; ids run from 0
 * @param blockTokens token positions in a Block
 * @param stepTokensMax tokens in one Step, over all its Slices
 * @param contextMax positions one Sequence can have
 * @param vocabulary number of token ids
 */
public record DeviceCapacity(
    String model,
    int blocks,
    int blockTokens,
    int stepTokensMax,
    int contextMax,
    int vocabulary,
    Numerics numerics) {
  public DeviceCapacity {
    if (blocks < 1 || blockTokens < 1 || stepTokensMax < 1 || contextMax < 1 || vocabulary < 1) {
      throw new IllegalArgumentException("every capacity of a device is at least 1");
    }
  }

  /** Positions that one Sequence can have when it is alone: there must be Blocks for them, too. */
  public int positionsMax() {
    return (int) Math.min(contextMax, (long) blocks * blockTokens);
  }
}
