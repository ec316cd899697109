package firstlight.gpu;

import java.util.Random;

/** How heads are turned, and how keys and values are kept. */
final class RotationCheck {
  static final double TOLERANCE = 3.5e-4;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final Random random = new Random(1);

  private RotationCheck(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
  }

  static void run(CheckBench bench) {
    try (CheckMemory memory = bench.memory()) {
      RotationCheck check = new RotationCheck(bench, memory);
      check.check(false, 64, false);
      check.check(true, 64, false);
      check.check(false, 40, true);
      check.check(true, 64, true);
    }
  }

  private void check(boolean isInterleaved, int rotated, boolean hasNorms) {
    RotationCase of = RotationCase.random(memory, isInterleaved, rotated, hasNorms, random);
    RotationCase.Outcome outcome = of.run(memory, bench.kernels());
    String what =
        "%d elements, %s%s"
            .formatted(
                rotated, isInterleaved ? "interleaved" : "halves", hasNorms ? ", norms" : "");
    compareQueries(what, of, outcome.queries());
    compareKept(what, of, outcome.memory());
  }

  private void compareQueries(String what, RotationCase of, short[] bits) {
    double[] actual = new double[bits.length];
    double[][] expected = new double[of.rows().count() * RotationCase.HEADS][];
    for (int i = 0; i < bits.length; i++) {
      actual[i] = Float.float16ToFloat(bits[i]);
    }
    for (int i = 0; i < expected.length; i++) {
      int position = of.rows().positions()[i / RotationCase.HEADS];
      expected[i] = of.turned(of.queries(), i * RotationCase.HEAD_SIZE, position);
    }
    compare(what + ", queries", actual, KernelDistance.flat(expected));
  }

  private void compareKept(String what, RotationCase of, short[] after) {
    int kvHeads = CheckLayer.KV_HEADS;
    double[][] expectedKeys = new double[of.rows().count() * kvHeads][];
    double[][] keptKeys = new double[expectedKeys.length][];
    double[][] keptValues = new double[expectedKeys.length][];
    for (int i = 0; i < expectedKeys.length; i++) {
      int position = of.rows().positions()[i / kvHeads];
      int[] blocks = of.rows().slice(i / kvHeads).blocks();
      expectedKeys[i] = of.turned(of.keys(), i * RotationCase.HEAD_SIZE, position);
      keptKeys[i] = of.layer().key(after, blocks, position, i % kvHeads);
      keptValues[i] = of.layer().value(after, blocks, position, i % kvHeads);
    }
    compare(what + ", keys", KernelDistance.flat(keptKeys), KernelDistance.flat(expectedKeys));
    compare(what + ", values", KernelDistance.flat(keptValues), Bf16.doubles(of.values()));
  }

  private void compare(String what, double[] actual, double[] expected) {
    bench.compare("rotate_store", what, TOLERANCE, actual, expected);
  }
}
