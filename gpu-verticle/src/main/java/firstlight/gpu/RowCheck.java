package firstlight.gpu;

import java.util.Random;

/** Kernels that work on a row at a time, beside plain arithmetic with doubles. */
final class RowCheck {
  /** Half a unit in the last place of bf16, by the number. */
  static final double BF16_TOLERANCE = 2.2e-3;

  static final double FLOAT_TOLERANCE = 2e-7;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final Random random = new Random(1);

  private RowCheck(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
  }

  static void run(CheckBench bench) {
    try (CheckMemory memory = bench.memory()) {
      RowCheck check = new RowCheck(bench, memory);
      check.norm("alone", false, false);
      check.norm("added", true, false);
      check.norm("added and normalised", true, true);
      check.wanted();
      check.activate("gelu", true);
      check.activate("silu", false);
    }
  }

  private void norm(String what, boolean adds, boolean hasPostNorm) {
    NormCase of = NormCase.random(adds, hasPostNorm, random);
    long out = memory.room((long) NormCase.ROWS * NormCase.SIZE * Short.BYTES);
    NormCase.Outcome outcome = of.run(memory, bench.kernels(), out);
    bench.compare(
        "add_norm",
        what + ", the stream",
        bench.exact(FLOAT_TOLERANCE),
        Bf16.doubles(outcome.stream()),
        KernelDistance.flat(of.sums()));
    compare("add_norm", what, outcome.normed(), KernelDistance.flat(of.normed()));
  }

  private void wanted() {
    NormCase of = NormCase.random(false, false, random);
    int[] wanted = {4, 1, 3};
    long out = memory.shorts(new short[4 * NormCase.SIZE]);
    short[] bits = of.run(memory, bench.kernels(), out, wanted).normed();
    double[][] expected = new double[4][NormCase.SIZE];
    for (int i = 0; i < wanted.length; i++) {
      expected[i] = of.normed()[wanted[i]];
    }
    compare("add_norm", "rows that are wanted", bits, KernelDistance.flat(expected));
  }

  private void activate(String what, boolean isGelu) {
    ActivationCase of = ActivationCase.random(isGelu, random);
    compare("activate", what, of.run(memory, bench.kernels()), of.expected());
  }

  private void compare(String kernel, String what, short[] bits, double[] expected) {
    double[] actual = KernelDistance.flat(Bf16.rows(bits, NormCase.SIZE));
    bench.compare(kernel, what, BF16_TOLERANCE, actual, expected);
  }
}
