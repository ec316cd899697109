package firstlight.gpu;

import firstlight.model.Tensor;
import firstlight.model.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;

/** Prints what each kernel does in a second of one thread. Not a test; run by hand. */
final class KernelMain {
  private static final int ROWS = 1536;
  private static final int COLUMNS = 768;
  private static final int ROUNDS = 40;
  private static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();

  private KernelMain() {}

  public static void main(String[] arguments) {
    int copies = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 60;
    boolean natively = arguments.length > 1 && arguments[1].equals("native");
    Random random = new Random(1);
    for (TensorType type :
        new TensorType[] {
          TensorType.Q4_1, TensorType.Q8_0, TensorType.Q5_0, TensorType.Q4_K, TensorType.Q6_K
        }) {
      byte[] data = new byte[ROWS * COLUMNS / type.blockElements() * type.blockBytes()];
      random.nextBytes(data);
      Tensor tensor =
          new Tensor("random", type, new long[] {COLUMNS, ROWS}, MemorySegment.ofArray(data));
      Matrix[] matrices = new Matrix[copies];
      for (int i = 0; i < copies; i++) {
        matrices[i] = new MatrixPacker(GpuConfig.Kernels.Q8, natively).pack(tensor);
      }
      for (int tokens : new int[] {1, 2, 4, 8, 16, 32, 128}) {
        measure(type, matrices, tokens, random);
      }
    }
  }

  private static void measure(TensorType type, Matrix[] matrices, int tokens, Random random) {
    Activations in = new Activations(tokens, COLUMNS, matrices[0].forms());
    for (int i = 0; i < tokens * COLUMNS; i++) {
      in.values[i] = (float) random.nextGaussian();
    }
    long[] quantising = new long[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long start = TIMES.getCurrentThreadCpuTime();
      for (int i = 0; i < 200; i++) {
        in.quantise(i % tokens);
      }
      quantising[round] = (TIMES.getCurrentThreadCpuTime() - start) / 200;
    }
    float[] out = new float[tokens * matrices[0].stride()];
    long[] nanos = new long[ROUNDS];
    int used = Math.max(1, matrices.length / tokens);
    for (int round = 0; round < ROUNDS; round++) {
      long start = TIMES.getCurrentThreadCpuTime();
      for (int i = 0; i < used; i++) {
        matrices[i].multiply(in, tokens, out, new Share(0, 1));
      }
      nanos[round] = TIMES.getCurrentThreadCpuTime() - start;
    }
    Arrays.sort(nanos);
    Arrays.sort(quantising);
    double products = (double) ROWS * COLUMNS * used * tokens;
    System.out.printf(
        Locale.ROOT,
        "%s, %3d tokens: best %.1f, median %.1f GFLOP/s, quantise %.2f us a row%n",
        type,
        tokens,
        2 * products / nanos[0],
        2 * products / nanos[ROUNDS / 2],
        quantising[ROUNDS / 2] / 1e3);
  }
}
