package firstlight.gpu;

import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.GenerationId;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import firstlight.protocol.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Runs Steps of the usual shapes until the time is up, so that the first client does not wait for
 * the compiler. Block contents do not matter: nobody owns the device yet.
 */
final class WarmUp {
  private static final int PROMPT = 32;
  private static final int DECODES = 4;
  private static final float[] NO_BIAS = {};
  private static final int[] NOTHING = {};
  private static final Sampling CHANCE =
      new Sampling(1, 40, 0.9f, 0, 1, 0, 0, NOTHING, NO_BIAS, 1, 1);

  private final Device device;
  private final DeviceCapacity capacity;
  private final Time time;

  WarmUp(Device device, Time time) {
    this.device = device;
    this.capacity = device.capacity();
    this.time = time;
  }

  void run(Duration limit) {
    long start = time.nanos();
    for (long step = 0; time.nanos() - start < limit.toNanos(); step++) {
      switch ((int) (step % 4)) {
        case 0 -> device.run(new RunStep(step, List.of(prompt())));
        case 1 -> device.run(new RunStep(step, decodes(DECODES)));
        default -> device.run(new RunStep(step, decodes(1)));
      }
    }
  }

  private Slice prompt() {
    int length = Math.min(PROMPT, Math.min(capacity.stepTokensMax(), capacity.contextMax()));
    int blocks = (length + capacity.blockTokens() - 1) / capacity.blockTokens();
    return new Slice(
        new GenerationId("warm-up"),
        IntStream.range(0, length).map(i -> i % capacity.vocabulary()).toArray(),
        0,
        IntStream.range(0, blocks).toArray(),
        1,
        Sampling.GREEDY,
        length,
        NOTHING);
  }

  private List<Slice> decodes(int count) {
    List<Slice> slices = new ArrayList<>();
    for (int i = 0;
        i < Math.min(count, Math.min(capacity.blocks(), capacity.stepTokensMax()));
        i++) {
      slices.add(
          new Slice(
              new GenerationId("warm-up-" + i),
              new int[] {i % capacity.vocabulary()},
              0,
              new int[] {i},
              1,
              i % 2 == 0 ? CHANCE : Sampling.GREEDY,
              1,
              NOTHING));
    }
    return slices;
  }
}
