package firstlight.gpu;

import firstlight.model.Tensor;
import firstlight.model.TensorType;
import java.util.Arrays;
import java.util.Random;

/** Weights that the GPU widens, narrows or looks up, beside those of the file. */
final class WeightCheck {
  private static final double EMBED_TOLERANCE = 1e-7;
  private static final int ROWS = 37;
  private static final int COLUMNS = 512;
  private static final int[] TOKENS = {36, 0, 7, 7};
  private static final float FACTOR = 3;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final Tensor tensor;
  private final float[] weights;

  private WeightCheck(CheckBench bench, CheckMemory memory, Tensor tensor) {
    this.bench = bench;
    this.memory = memory;
    this.tensor = tensor;
    weights = ProductCase.weights(tensor);
  }

  static void run(CheckBench bench) {
    Random random = new Random(1);
    for (TensorType type : TensorType.values()) {
      if (CudaWeightType.of(type).isPresent()) {
        try (CheckMemory memory = bench.memory()) {
          Tensor tensor = RandomTensors.of(type, ROWS, COLUMNS, random);
          WeightCheck check = new WeightCheck(bench, memory, tensor);
          check.embed();
          check.widen();
          check.narrow();
        }
      }
    }
  }

  private CudaMatrix upload(CudaConfig.Weights choice) {
    try (WeightUpload upload = new WeightUpload(bench.gpu(), choice, 0)) {
      return memory.keep(upload.matrix(tensor));
    }
  }

  private void embed() {
    CudaMatrix matrix = upload(CudaConfig.Weights.FILE);
    long stream = memory.room((long) TOKENS.length * COLUMNS * Float.BYTES);
    long counts = memory.counts(TOKENS.length, 0, 0, 1);
    memory.run(
        bench
            .kernels()
            .embed(
                new KernelArguments.Embed(stream, matrix, memory.ints(TOKENS), FACTOR, counts), 8));
    double[] expected = new double[TOKENS.length * COLUMNS];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = FACTOR * weights[TOKENS[i / COLUMNS] * COLUMNS + i % COLUMNS];
    }
    bench.compare(
        "embed",
        tensor.type().name(),
        bench.exact(EMBED_TOLERANCE),
        Bf16.doubles(memory.readFloats(stream)),
        expected);
  }

  private void widen() {
    short[] bits = memory.readShorts(upload(CudaConfig.Weights.BF16).address());
    short[] expected = new short[weights.length];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = Bf16.of(weights[i]);
    }
    bench.require("widen", tensor.type() + ", bits", Arrays.equals(bits, expected));
  }

  /** Each to within half a step; steps are of 2^-9 near zero. */
  private void narrow() {
    float[] narrowed = Fp8.floats(memory, upload(CudaConfig.Weights.FP8));
    boolean near = true;
    for (int row = 0; row < ROWS; row++) {
      float largest = 0;
      for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; i++) {
        largest = Math.max(largest, Math.abs(weights[i]));
      }
      for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; i++) {
        double step = Math.max(Math.abs(weights[i]) / 16, largest / 448 / 1024) * 1.001;
        near &= Math.abs(narrowed[i] - weights[i]) <= step;
      }
    }
    bench.require("narrow", tensor.type() + ", half a step", near);
  }
}
