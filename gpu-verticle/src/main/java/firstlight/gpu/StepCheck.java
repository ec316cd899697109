package firstlight.gpu;

import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.Slice;
import java.util.Arrays;

/**
 * Whether a device can run a Step: everything that it uses as an index is in range. A Step that is
 * refused leaves the device as it was.
 */
final class StepCheck {
  private final DeviceCapacity capacity;

  StepCheck(DeviceCapacity capacity) {
    this.capacity = capacity;
  }

  /**
   * @throws MeshException of kind INVALID_REQUEST, saying what is wrong
   */
  void check(RunStep step) {
    long tokens = step.slices().stream().mapToLong(slice -> slice.tokens().length).sum();
    require(
        tokens <= capacity.stepTokensMax(),
        "The Step has %d tokens; the device takes %d.",
        tokens,
        capacity.stepTokensMax());
    step.slices().forEach(this::check);
  }

  private void check(Slice slice) {
    long end = (long) slice.start() + slice.tokens().length;
    require(
        end <= capacity.contextMax(),
        "A Slice ends at position %d; the context has %d.",
        end,
        capacity.contextMax());
    require(
        end <= (long) slice.blocks().length * capacity.blockTokens(),
        "A Slice ends at position %d; its block table has %d Blocks.",
        end,
        slice.blocks().length);
    for (int block : slice.blocks()) {
      require(
          block >= 0 && block < capacity.blocks(),
          "A Slice names Block %d; the device has %d.",
          block,
          capacity.blocks());
    }
    checkTokens(slice.tokens());
    if (slice.sampled() > 0) {
      checkTokens(slice.history());
      checkTokens(slice.sampling().biasTokens());
      checkAllowed(slice.allowed());
    }
  }

  private void checkAllowed(long[][] allowed) {
    for (long[] mask : allowed) {
      require(
          mask.length == (capacity.vocabulary() + 63) / 64,
          "A Slice has a mask of %d words for the vocabulary of %d.",
          mask.length,
          capacity.vocabulary());
      require(
          Arrays.stream(mask).anyMatch(word -> word != 0),
          "A Slice allows %d of the %d tokens.",
          0,
          capacity.vocabulary());
    }
  }

  private void checkTokens(int[] tokens) {
    for (int token : tokens) {
      require(
          token >= 0 && token < capacity.vocabulary(),
          "A Slice has the token %d; the vocabulary has %d.",
          token,
          capacity.vocabulary());
    }
  }

  private static void require(boolean holds, String message, long given, long limit) {
    if (!holds) {
      throw MeshException.invalid(message.formatted(given, limit), "step");
    }
  }
}
