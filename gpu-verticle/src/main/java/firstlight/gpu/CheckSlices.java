package firstlight.gpu;

import firstlight.protocol.GenerationId;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Short ways to make Slices. */
final class CheckSlices {
  private static final int[] NOTHING = {};

  private CheckSlices() {}

  /** Tokens from a position on, the last of them sampled so many. */
  static Slice of(int sequence, int[] tokens, int start, int[] blocks, int sampled, Sampling how) {
    return new Slice(
        new GenerationId("sequence-" + sequence),
        tokens,
        start,
        blocks,
        sampled,
        how,
        start + tokens.length,
        NOTHING);
  }

  /** Some positions of which nothing is sampled. */
  static Slice silent(int start, int count, int[] blocks) {
    return of(0, new int[count], start, blocks, 0, Sampling.GREEDY);
  }

  static StepRows rows(List<Slice> slices) {
    return StepRows.of(new RunStep(1, slices));
  }

  /** Block tables of equal length out of all Blocks, in no order. */
  static List<int[]> tables(int sequences, int length, long seed) {
    List<Integer> all = new ArrayList<>(IntStream.range(0, sequences * length).boxed().toList());
    Collections.shuffle(all, new Random(seed));
    List<int[]> tables = new ArrayList<>();
    for (int i = 0; i < sequences; i++) {
      tables.add(
          all.subList(i * length, (i + 1) * length).stream().mapToInt(block -> block).toArray());
    }
    return tables;
  }
}
