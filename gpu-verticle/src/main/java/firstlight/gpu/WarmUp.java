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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs Steps of all the usual shapes, round after round, until rounds no longer get faster or the
 * time is up, so that the first client does not wait for the compiler. Block contents do not
 * matter: nobody owns the device yet.
 */
final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

  /** Longer prompts run what these do, more often. */
  private static final int PROMPT_MAX = 128;

  private static final int DECODES_MAX = 32;

  /** A context that attention takes in several pieces. */
  private static final int FAR = 4 * Attention.SPLIT;

  /** The commonest shape, several times a round. */
  private static final int SINGLES = 8;

  /** A round is no faster when it takes more than this of the fastest before it. */
  private static final double NO_FASTER = 0.95;

  /** So many such rounds in a row end it. */
  private static final int ROUNDS_NO_FASTER = 2;

  private static final int[] NOTHING = {};
  private static final List<Sampling> SAMPLINGS =
      List.of(
          Sampling.GREEDY,
          new Sampling(1, 0, 1, 0, 1, 0, 0, NOTHING, new float[0], 1, -1),
          new Sampling(0.8f, 40, 0.9f, 0.05f, 1, 0, 0, NOTHING, new float[0], 2, 1),
          new Sampling(1, 0, 0.9f, 0, 1.1f, 0.1f, 0.1f, new int[1], new float[1], 3, 20));

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
    long end = start + limit.toNanos();
    List<List<Slice>> shapes = shapes();
    long fastest = Long.MAX_VALUE;
    long last = Long.MAX_VALUE;
    int rounds = 0;
    for (int slower = 0; slower < ROUNDS_NO_FASTER && time.nanos() < end; rounds++) {
      last = round(shapes, end);
      slower = last > NO_FASTER * fastest ? slower + 1 : 0;
      fastest = Math.min(fastest, last);
    }
    if (rounds > 0) {
      LOG.info(
          "the device was warmed up in {} ms: {} rounds, the last in {} ms",
          (time.nanos() - start) / 1_000_000,
          rounds,
          last / 1_000_000);
    }
  }

  /** Returns how long it took, in nanoseconds; less than a whole round when the time was up. */
  private long round(List<List<Slice>> shapes, long end) {
    long start = time.nanos();
    for (List<Slice> slices : shapes) {
      if (time.nanos() < end) {
        device.run(new RunStep(0, slices));
      }
    }
    return time.nanos() - start;
  }

  /** What a Step can be made of, as far as the device takes it, the small ones first. */
  private List<List<Slice>> shapes() {
    List<List<Slice>> shapes = new ArrayList<>();
    for (int i = 0; i < SINGLES; i++) {
      shapes.add(List.of(decode(0, SAMPLINGS.get(i % SAMPLINGS.size()))));
    }
    int farthest = Math.min(FAR, positions());
    shapes.add(List.of(tokens("far", farthest - 1, 1, SAMPLINGS.getFirst())));
    int decodes = Math.min(DECODES_MAX, Math.min(capacity.blocks(), capacity.stepTokensMax()));
    for (int count = 2; count <= decodes; count *= 2) {
      shapes.add(decodes(count));
    }
    int longest = Math.min(PROMPT_MAX, Math.min(capacity.stepTokensMax(), positions()));
    for (int length = 2; length <= longest; length *= 2) {
      shapes.add(List.of(tokens("prompt", 0, length, SAMPLINGS.getFirst())));
    }
    if (longest > 1) {
      List<Slice> mixed = new ArrayList<>(decodes(Math.min(decodes, longest / 2)));
      mixed.add(tokens("prompt", 0, longest - mixed.size(), SAMPLINGS.getFirst()));
      shapes.add(mixed);
    }
    return shapes;
  }

  /** Of the longest Sequence that the device can hold. */
  private int positions() {
    return (int) Math.min(capacity.contextMax(), (long) capacity.blocks() * capacity.blockTokens());
  }

  private List<Slice> decodes(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> decode(i, SAMPLINGS.get(i % SAMPLINGS.size())))
        .toList();
  }

  private Slice decode(int number, Sampling sampling) {
    return new Slice(
        new GenerationId("warm-up-" + number),
        new int[] {number % capacity.vocabulary()},
        0,
        new int[] {number},
        1,
        sampling,
        1,
        NOTHING);
  }

  private Slice tokens(String name, int start, int length, Sampling sampling) {
    int blocks = (start + length + capacity.blockTokens() - 1) / capacity.blockTokens();
    return new Slice(
        new GenerationId("warm-up-" + name),
        IntStream.range(0, length).map(i -> i % capacity.vocabulary()).toArray(),
        start,
        IntStream.range(0, blocks).toArray(),
        1,
        sampling,
        start + length,
        NOTHING);
  }
}
