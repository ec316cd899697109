package firstlight.gpu;

import java.util.Random;

/** A case of {@code activate}, and what plain arithmetic with doubles makes of it. */
record ActivationCase(float[] gates, float[] ups, boolean isGelu) {
  static final int SIZE = 608;
  private static final int ROWS = 5;

  static ActivationCase random(boolean isGelu, Random random) {
    return new ActivationCase(
        Bf16.gaussians(ROWS * SIZE, random), Bf16.gaussians(ROWS * SIZE, random), isGelu);
  }

  double[] expected() {
    double[] expected = new double[gates.length];
    for (int i = 0; i < gates.length; i++) {
      double gate = gates[i];
      double inner = Math.sqrt(2 / Math.PI) * (gate + 0.044715 * gate * gate * gate);
      double active = isGelu ? gate * (1 + Math.tanh(inner)) / 2 : gate / (1 + Math.exp(-gate));
      expected[i] = active * ups[i];
    }
    return expected;
  }

  /** What the kernel makes, as it keeps it. */
  short[] run(CheckMemory memory, Kernels kernels) {
    long out = memory.room(gates.length * 2L);
    memory.run(
        kernels.activate(
            new KernelArguments.Activate(
                out,
                memory.floats(gates),
                memory.floats(ups),
                memory.counts(ROWS, 0, 0, 1),
                SIZE,
                isGelu),
            8));
    return memory.readShorts(out);
  }
}
