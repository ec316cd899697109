package firstlight.gpu;

import firstlight.protocol.SampledToken;
import firstlight.protocol.Slice;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Whether the GPU chooses what the cpu device's sampler chooses, whatever the options. */
final class SampleCheck {
  private static final int ROWS = 32;
  private static final int ROUNDS = 4;

  private SampleCheck() {}

  static void run(CheckBench bench) {
    if (ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
      throw new UnsupportedOperationException(
          "the cpu device's sampler needs --add-modules jdk.incubator.vector");
    }
    Random random = new Random(1);
    try (CheckMemory memory = bench.memory()) {
      SampleTrial trial = new SampleTrial(bench.gpu(), memory);
      for (int round = 0; round < ROUNDS; round++) {
        check(bench, trial, round, random);
      }
    }
  }

  private static void check(CheckBench bench, SampleTrial trial, int round, Random random) {
    float[] logits = SampleTrial.logits(ROWS, 0.5 + 2 * round, random);
    List<Slice> slices = Stream.generate(() -> SampleTrial.anySlice(random)).limit(ROWS).toList();
    List<SampledToken> tokens = trial.sample(slices, logits, 0);
    int same = 0;
    for (int i = 0; i < ROWS; i++) {
      same += isSame(tokens.get(i), SampleTrial.expected(slices.get(i), logits, i)) ? 1 : 0;
    }
    String what = "round %d, %d of %d rows as on the cpu device".formatted(round, same, ROWS);
    // Exponentials differ in their last bit, which may decide a draw in a hundred thousand.
    bench.require("sample", what, same >= (bench.sizes().isSimulated() ? ROWS : ROWS - 1));
  }

  private static boolean isSame(SampledToken actual, SampledToken expected) {
    boolean same =
        actual.id() == expected.id()
            && Arrays.equals(actual.topIds(), expected.topIds())
            && Math.abs(actual.logprob() - expected.logprob()) <= SampleTrial.TOLERANCE;
    for (int i = 0; same && i < expected.topIds().length; i++) {
      float difference = actual.topLogprobs()[i] - expected.topLogprobs()[i];
      same = Math.abs(difference) <= SampleTrial.TOLERANCE;
    }
    return same;
  }
}
