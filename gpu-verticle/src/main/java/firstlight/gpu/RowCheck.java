package firstlight.gpu;

import java.util.Arrays;
import java.util.Random;

/** Kernels that work on a row at a time, beside plain arithmetic with doubles. */
final class RowCheck {
  /** Half a unit in the last place of bf16, by the number. */
  private static final double BF16_TOLERANCE = 2.2e-3;

  private static final double FLOAT_TOLERANCE = 2e-7;
  private static final float EPSILON = 1e-5f;
  private static final int SIZE = 608;
  private static final int ROWS = 5;

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
      check.norm(false, false);
      check.norm(true, false);
      check.norm(true, true);
      check.wanted();
      check.activate(true);
      check.activate(false);
    }
  }

  private static double[] normalised(double[] x, float[] norm) {
    double sum = Arrays.stream(x).map(each -> each * each).sum();
    double factor = 1 / Math.sqrt(sum / x.length + EPSILON);
    double[] normed = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      normed[i] = x[i] * factor * norm[i];
    }
    return normed;
  }

  private static double[] row(float[] rows, int row) {
    return Bf16.doubles(Arrays.copyOfRange(rows, row * SIZE, (row + 1) * SIZE));
  }

  private void norm(boolean adds, boolean hasPostNorm) {
    float[] stream = Bf16.gaussians(ROWS * SIZE, random);
    float[] added = Bf16.gaussians(ROWS * SIZE, random);
    float[] norm = Bf16.gaussians(SIZE, random);
    float[] postNorm = Bf16.gaussians(SIZE, random);
    double[][] sums = new double[ROWS][];
    double[][] normed = new double[ROWS][];
    for (int row = 0; row < ROWS; row++) {
      double[] more = hasPostNorm ? normalised(row(added, row), postNorm) : row(added, row);
      sums[row] = row(stream, row);
      for (int i = 0; adds && i < SIZE; i++) {
        sums[row][i] += more[i];
      }
      normed[row] = normalised(sums[row], norm);
    }
    long at = memory.floats(stream);
    long out = memory.room((long) ROWS * SIZE * Short.BYTES);
    memory.run(
        bench
            .kernels()
            .addNorm(
                new KernelArguments.AddNorm(
                    out,
                    at,
                    adds ? memory.floats(added) : 0,
                    hasPostNorm ? memory.floats(postNorm) : 0,
                    memory.floats(norm),
                    0,
                    memory.counts(ROWS, 0, 0, 1),
                    SIZE,
                    EPSILON),
                8));
    String what = hasPostNorm ? "added and normalised" : adds ? "added" : "alone";
    bench.compare(
        "add_norm",
        what + ", the stream",
        bench.exact(FLOAT_TOLERANCE),
        Bf16.doubles(memory.readFloats(at)),
        KernelDistance.flat(sums));
    compare("add_norm", what, memory.readShorts(out), KernelDistance.flat(normed));
  }

  private void compare(String kernel, String what, short[] bits, double[] expected) {
    double[] actual = KernelDistance.flat(Bf16.rows(bits, SIZE));
    bench.compare(kernel, what, BF16_TOLERANCE, actual, expected);
  }

  private void wanted() {
    float[] stream = Bf16.gaussians(ROWS * SIZE, random);
    float[] norm = Bf16.gaussians(SIZE, random);
    int[] wanted = {4, 1, 3};
    long out = memory.shorts(new short[4 * SIZE]);
    memory.run(
        bench
            .kernels()
            .addNorm(
                new KernelArguments.AddNorm(
                    out,
                    memory.floats(stream),
                    0,
                    0,
                    memory.floats(norm),
                    memory.ints(wanted),
                    memory.counts(ROWS, 3, 0, 1),
                    SIZE,
                    EPSILON),
                4));
    double[][] expected = new double[4][SIZE];
    for (int i = 0; i < wanted.length; i++) {
      expected[i] = normalised(row(stream, wanted[i]), norm);
    }
    compare(
        "add_norm", "rows that are wanted", memory.readShorts(out), KernelDistance.flat(expected));
  }

  private void activate(boolean isGelu) {
    float[] gates = Bf16.gaussians(ROWS * SIZE, random);
    float[] ups = Bf16.gaussians(ROWS * SIZE, random);
    double[] expected = new double[gates.length];
    for (int i = 0; i < gates.length; i++) {
      double gate = gates[i];
      double inner = Math.sqrt(2 / Math.PI) * (gate + 0.044715 * gate * gate * gate);
      double active = isGelu ? gate * (1 + Math.tanh(inner)) / 2 : gate / (1 + Math.exp(-gate));
      expected[i] = active * ups[i];
    }
    long out = memory.room(gates.length * 2L);
    memory.run(
        bench
            .kernels()
            .activate(
                new KernelArguments.Activate(
                    out,
                    memory.floats(gates),
                    memory.floats(ups),
                    memory.counts(ROWS, 0, 0, 1),
                    SIZE,
                    isGelu),
                8));
    compare("activate", isGelu ? "gelu" : "silu", memory.readShorts(out), expected);
  }
}
