package firstlight.gpu;

import firstlight.model.Tensor;
import java.util.Arrays;
import java.util.Random;

/**
 * Weights times activations, and what plain arithmetic with doubles makes of them.
 *
 * @param weights what they are as numbers: {@code [rows][columns]}
 * @param x activations, bf16 in the order of lanes: {@code [tokens][columns]}
 */
record ProductCase(CudaMatrix matrix, float[] weights, short[] x) {
  /** Not a multiple of what a block makes, so that the last one is not full. */
  static final int ROWS = 139;

  static final int TOKENS = 67;

  static ProductCase random(CudaMatrix matrix, float[] weights, Random random) {
    return new ProductCase(matrix, weights, Bf16.random(TOKENS * matrix.columns(), random));
  }

  /** The numbers of a tensor as a GPU has them: those that are floats become bf16. */
  static float[] weights(Tensor tensor) {
    float[] weights = new float[(int) tensor.rows() * tensor.columns()];
    for (int row = 0; row < tensor.rows(); row++) {
      tensor.dequantize(row, weights, row * tensor.columns());
    }
    boolean rounded = CudaWeightType.of(tensor.type()).isEmpty();
    for (int i = 0; rounded && i < weights.length; i++) {
      weights[i] = Bf16.toFloat(Bf16.of(weights[i]));
    }
    return weights;
  }

  double[] expected() {
    int columns = matrix.columns();
    double[][] tokens = Bf16.rows(x, columns);
    double[] products = new double[tokens.length * matrix.rows()];
    for (int row = 0; row < matrix.rows(); row++) {
      for (int token = 0; token < tokens.length; token++) {
        double sum = 0;
        for (int i = 0; i < columns; i++) {
          sum += tokens[token][i] * weights[row * columns + i];
        }
        products[token * matrix.rows() + row] = sum;
      }
    }
    return products;
  }

  /**
   * The product of the first tokens.
   *
   * @param at where the activations are
   * @param bucket tokens that the launch is for, which decides the kernel
   */
  static float[] run(
      CheckMemory memory, Kernels kernels, CudaMatrix matrix, long at, int tokens, int bucket) {
    long out = memory.room((long) bucket * matrix.rows() * Float.BYTES);
    long counts = memory.counts(tokens, 0, 0, 1);
    memory.run(kernels.multiply(KernelArguments.Product.of(out, matrix, at, counts), bucket));
    return Arrays.copyOf(memory.readFloats(out), tokens * matrix.rows());
  }
}
