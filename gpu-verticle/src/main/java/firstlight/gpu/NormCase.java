package firstlight.gpu;

import java.util.Arrays;
import java.util.Random;

/**
 * A case of {@code add_norm}: what goes in, and what plain arithmetic with doubles makes of it.
 *
 * @param added to the stream; empty: nothing
 * @param postNorm of what is added; empty: there is none
 */
record NormCase(float[] stream, float[] added, float[] norm, float[] postNorm) {
  static final int SIZE = 608;
  static final int ROWS = 5;
  private static final float EPSILON = 1e-5f;
  private static final float[] NONE = {};

  /** What the kernel made: the stream, and the normalised rows as it keeps them. */
  record Outcome(float[] stream, short[] normed) {}

  static NormCase random(boolean adds, boolean hasPostNorm, Random random) {
    return new NormCase(
        Bf16.gaussians(ROWS * SIZE, random),
        adds ? Bf16.gaussians(ROWS * SIZE, random) : NONE,
        Bf16.gaussians(SIZE, random),
        hasPostNorm ? Bf16.gaussians(SIZE, random) : NONE);
  }

  /** The stream afterwards. */
  double[][] sums() {
    double[][] sums = new double[ROWS][];
    for (int row = 0; row < ROWS; row++) {
      sums[row] = row(stream, row);
      if (added.length > 0) {
        double[] more = row(added, row);
        more = postNorm.length > 0 ? normalised(more, postNorm) : more;
        for (int i = 0; i < SIZE; i++) {
          sums[row][i] += more[i];
        }
      }
    }
    return sums;
  }

  double[][] normed() {
    return Arrays.stream(sums()).map(sum -> normalised(sum, norm)).toArray(double[][]::new);
  }

  private static double[] row(float[] rows, int row) {
    return Bf16.doubles(Arrays.copyOfRange(rows, row * SIZE, (row + 1) * SIZE));
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

  /**
   * @param out where the kernel writes the normalised rows
   * @param wanted the rows that it takes; none: all
   */
  Outcome run(CheckMemory memory, Kernels kernels, long out, int... wanted) {
    long at = memory.floats(stream);
    boolean all = wanted.length == 0;
    memory.run(
        kernels.addNorm(
            new KernelArguments.AddNorm(
                out,
                at,
                uploaded(memory, added),
                uploaded(memory, postNorm),
                memory.floats(norm),
                all ? 0 : memory.ints(wanted),
                memory.counts(ROWS, wanted.length, 0, 1),
                SIZE,
                EPSILON),
            8));
    return new Outcome(memory.readFloats(at), memory.readShorts(out));
  }

  private static long uploaded(CheckMemory memory, float[] floats) {
    return floats.length == 0 ? 0 : memory.floats(floats);
  }
}
