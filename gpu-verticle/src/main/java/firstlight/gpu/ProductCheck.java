package firstlight.gpu;

import firstlight.model.Tensor;
import firstlight.model.TensorType;
import java.util.Arrays;
import java.util.Random;

/**
 * Products of weights of every type, beside plain arithmetic with doubles, and whether the kernels
 * for few, some and many tokens give the same bits.
 */
final class ProductCheck {
  private static final double TOLERANCE = 3e-7;

  /** Not a multiple of what a block makes, so that the last one is not full. */
  static final int ROWS = 139;

  private static final int TOKENS = 67;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final int columns;
  private final Random random = new Random(1);

  private ProductCheck(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
    columns = bench.sizes().productColumns();
  }

  static void run(CheckBench bench) {
    for (TensorType type : TensorType.values()) {
      try (CheckMemory memory = bench.memory()) {
        new ProductCheck(bench, memory).check(type);
      }
    }
    try (CheckMemory memory = bench.memory()) {
      new ProductCheck(bench, memory).checkBytes();
    }
  }

  private void check(TensorType type) {
    Tensor tensor = RandomTensors.of(type, ROWS, columns, random);
    boolean rounded = CudaWeightType.of(type).isEmpty();
    CudaMatrix matrix;
    try (WeightUpload upload = new WeightUpload(bench.gpu(), CudaConfig.Weights.FILE, 0)) {
      matrix = memory.keep(upload.matrix(tensor));
    }
    float[] weights = new float[ROWS * columns];
    for (int row = 0; row < ROWS; row++) {
      tensor.dequantize(row, weights, row * columns);
    }
    for (int i = 0; rounded && i < weights.length; i++) {
      weights[i] = Bf16.toFloat(Bf16.of(weights[i]));
    }
    String what = type.name() + (rounded ? " as BF16" : "");
    check(matrix, what, weights);
  }

  /** The bytes that the GPU itself made of numbers. */
  private void checkBytes() {
    CudaMatrix matrix;
    try (WeightUpload upload = new WeightUpload(bench.gpu(), CudaConfig.Weights.FP8, 0)) {
      matrix = memory.keep(upload.matrix(RandomTensors.of(TensorType.BF16, ROWS, columns, random)));
    }
    check(matrix, "FP8", Fp8.floats(memory, matrix));
  }

  private void check(CudaMatrix matrix, String what, float[] weights) {
    short[] x = Bf16.random(TOKENS * columns, random);
    long at = memory.shorts(x);
    float[] wide = multiply(matrix, at, TOKENS, 128);
    double[] expected = expected(weights, Bf16.rows(x, columns));
    bench.compare("multiply64", what, bench.exact(TOLERANCE), Bf16.doubles(wide), expected);
    for (int tokens : new int[] {1, 7, 8, 9, 31, 32}) {
      float[] narrow = multiply(matrix, at, tokens, StepBucket.enough(tokens, 128));
      bench.require(
          tokens <= 8 ? "multiply8" : "multiply32",
          "%s, %d tokens, bits of multiply64".formatted(what, tokens),
          Arrays.equals(narrow, Arrays.copyOf(wide, narrow.length)));
    }
  }

  private float[] multiply(CudaMatrix matrix, long x, int tokens, int bucket) {
    long out = memory.room((long) bucket * matrix.rows() * Float.BYTES);
    long counts = memory.counts(tokens, 0, 0, 1);
    memory.run(
        bench
            .kernels()
            .multiply(
                new KernelArguments.Product(out, matrix, x, false, 0, Integer.MAX_VALUE, counts),
                bucket));
    return Arrays.copyOf(memory.readFloats(out), tokens * matrix.rows());
  }

  private double[] expected(float[] weights, double[][] x) {
    double[] products = new double[x.length * ROWS];
    for (int row = 0; row < ROWS; row++) {
      for (int token = 0; token < x.length; token++) {
        double sum = 0;
        for (int i = 0; i < columns; i++) {
          sum += x[token][i] * weights[row * columns + i];
        }
        products[token * ROWS + row] = sum;
      }
    }
    return products;
  }
}
