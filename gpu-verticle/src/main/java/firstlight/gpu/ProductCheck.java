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
  static final double TOLERANCE = 3e-7;

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

  private CudaMatrix upload(Tensor tensor, CudaConfig.Weights choice) {
    try (WeightUpload upload = new WeightUpload(bench.gpu(), choice, 0)) {
      return memory.keep(upload.matrix(tensor));
    }
  }

  private void check(TensorType type) {
    Tensor tensor = RandomTensors.of(type, ProductCase.ROWS, columns, random);
    String what = type.name() + (CudaWeightType.of(type).isEmpty() ? " as BF16" : "");
    check(what, upload(tensor, CudaConfig.Weights.FILE), ProductCase.weights(tensor));
  }

  /** The bytes that the GPU itself made of numbers. */
  private void checkBytes() {
    Tensor tensor = RandomTensors.of(TensorType.BF16, ProductCase.ROWS, columns, random);
    CudaMatrix matrix = upload(tensor, CudaConfig.Weights.FP8);
    check("FP8", matrix, Fp8.floats(memory, matrix));
  }

  private void check(String what, CudaMatrix matrix, float[] weights) {
    ProductCase of = ProductCase.random(matrix, weights, random);
    long at = memory.shorts(of.x());
    float[] wide = ProductCase.run(memory, bench.kernels(), matrix, at, ProductCase.TOKENS, 128);
    bench.compare("multiply64", what, bench.exact(TOLERANCE), Bf16.doubles(wide), of.expected());
    for (int tokens : new int[] {1, 7, 8, 9, 31, 32}) {
      int bucket = StepBucket.enough(tokens, 128);
      float[] narrow = ProductCase.run(memory, bench.kernels(), matrix, at, tokens, bucket);
      bench.require(
          tokens <= 8 ? "multiply8" : "multiply32",
          "%s, %d tokens, bits of multiply64".formatted(what, tokens),
          Arrays.equals(narrow, Arrays.copyOf(wide, narrow.length)));
    }
  }
}
