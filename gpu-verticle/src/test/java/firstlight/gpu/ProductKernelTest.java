package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.model.Tensor;
import firstlight.model.TensorType;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Products of weights and activations on the simulated driver. */
class ProductKernelTest {
  private static final long SEED = Long.getLong("seed", 1);
  private static final int ROWS = ProductCase.ROWS;
  private static final int TOKENS = ProductCase.TOKENS;
  private static final int COLUMNS = 768;

  private static SimulatedGpu gpu;

  private final Random random = new Random(SEED);

  @BeforeAll
  static void open() {
    gpu = SimulatedGpu.open();
  }

  @AfterAll
  static void close() {
    if (gpu != null) {
      gpu.close();
    }
  }

  private static CudaMatrix upload(Tensor tensor, CudaConfig.Weights choice) {
    try (WeightUpload upload = new WeightUpload(gpu.gpu, choice, 0)) {
      return gpu.memory.keep(upload.matrix(tensor));
    }
  }

  private static CudaMatrix upload(Tensor tensor) {
    return upload(tensor, CudaConfig.Weights.FILE);
  }

  /** The product as some kernel makes it: of the first tokens, in launches for so many. */
  private static float[] multiply(CudaMatrix matrix, long x, int tokens, int bucket) {
    return ProductCase.run(gpu.memory, gpu.kernels, matrix, x, tokens, bucket);
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void products_are_those_of_plain_arithmetic_and_the_same_bits_from_every_kernel(TensorType type) {
    Tensor tensor = RandomTensors.of(type, ROWS, COLUMNS, random);
    CudaMatrix matrix = upload(tensor);
    ProductCase of = ProductCase.random(matrix, ProductCase.weights(tensor), random);
    long at = gpu.memory.shorts(of.x());

    float[] wide = multiply(matrix, at, TOKENS, 128);

    KernelAssert.within(
        ProductCheck.TOLERANCE, Bf16.doubles(wide), of.expected(), "-Dseed=" + SEED);
    for (int tokens : new int[] {1, 7, 8, 9, 31, 32}) {
      float[] narrow = multiply(matrix, at, tokens, StepBucket.enough(tokens, 128));
      assertThat(narrow)
          .as("-Dseed=%d %d tokens", SEED, tokens)
          .isEqualTo(Arrays.copyOf(wide, narrow.length));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      names = {"BF16", "Q8_0", "Q4_K", "Q6_K"})
  void the_order_of_threads_changes_no_bit(TensorType type) {
    CudaMatrix matrix = upload(RandomTensors.of(type, ROWS, COLUMNS, random));
    long at = gpu.memory.shorts(Bf16.random(TOKENS * COLUMNS, random));
    for (int bucket : new int[] {8, 32, 64}) {
      float[] natural = multiply(matrix, at, bucket - 1, bucket);
      for (int order = 1; order <= 10; order++) {
        SimulatedDriver.order(order);
        assertThat(multiply(matrix, at, bucket - 1, bucket)).isEqualTo(natural);
      }
      SimulatedDriver.order(0);
    }
  }

  @ParameterizedTest
  @CsvSource({"BF16, 2", "Q8_0, 4", "Q4_0, 8", "F32, 2"})
  void shares_of_the_columns_add_up_to_the_same_bits(TensorType type, int shares) {
    Tensor tensor = RandomTensors.of(type, ROWS, COLUMNS, random);
    short[] x = Bf16.random(TOKENS * COLUMNS, random);
    CudaMatrix whole = upload(tensor);
    long at = gpu.memory.shorts(x);
    for (int bucket : new int[] {8, 32, 128}) {
      int tokens = Math.min(bucket - 1, TOKENS);
      float[] added = sharedOut(tensor, x, shares, bucket, tokens);
      assertThat(added)
          .as("-Dseed=%d for %d", SEED, bucket)
          .isEqualTo(multiply(whole, at, tokens, bucket));
    }
  }

  /** The product, each share of the columns by itself. */
  private float[] sharedOut(Tensor tensor, short[] x, int shares, int bucket, int tokens) {
    long counts = gpu.memory.counts(tokens, 0, 0, 1);
    long apart = (long) tokens * ROWS;
    long parts = gpu.memory.floats(new float[Math.toIntExact(apart * CudaMatrix.RANGES)]);
    int width = COLUMNS / shares;
    for (int rank = 0; rank < shares; rank++) {
      CudaMatrix matrix;
      try (WeightUpload upload = new WeightUpload(gpu.gpu, CudaConfig.Weights.FILE, 0)) {
        matrix = gpu.memory.keep(upload.columns(tensor, new Shard(rank, shares)));
      }
      short[] ours = new short[TOKENS * width];
      for (int token = 0; token < TOKENS; token++) {
        System.arraycopy(x, token * COLUMNS + rank * width, ours, token * width, width);
      }
      long out = parts + rank * apart * matrix.ranges() * Float.BYTES;
      gpu.memory.run(
          gpu.kernels.multiply(
              KernelArguments.Product.ofRanges(out, matrix, gpu.memory.shorts(ours), apart, counts),
              bucket));
    }
    long sum = gpu.memory.floats(new float[tokens * ROWS]);
    gpu.memory.run(
        gpu.kernels.addRanges(
            new KernelArguments.AddRanges(sum, parts, apart, ROWS, counts), bucket));
    return gpu.memory.readFloats(sum);
  }

  @Test
  void a_part_of_the_sampled_rows_is_multiplied_alone() {
    Tensor tensor = RandomTensors.of(TensorType.Q8_0, ROWS, COLUMNS, random);
    CudaMatrix matrix = upload(tensor);
    ProductCase of =
        new ProductCase(matrix, ProductCase.weights(tensor), Bf16.random(20 * COLUMNS, random));
    long at = gpu.memory.shorts(of.x());
    long counts = gpu.memory.counts(99, 20, 0, 1);
    long out = gpu.memory.floats(new float[8 * ROWS]);
    long from = at + 16L * COLUMNS * Short.BYTES;
    gpu.memory.run(
        gpu.kernels.multiply(
            KernelArguments.Product.ofSampled(out, matrix, from, 16, 8, counts), 8));
    double[] wanted =
        Arrays.copyOf(Arrays.copyOfRange(of.expected(), 16 * ROWS, 20 * ROWS), 8 * ROWS);
    // Those beyond the sampled ones are left alone.
    double[] actual = Bf16.doubles(gpu.memory.readFloats(out));
    KernelAssert.within(ProductCheck.TOLERANCE, actual, wanted, "sampled");
  }

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      mode = Mode.EXCLUDE,
      names = {"F32", "F16"})
  void weights_become_bf16_or_bytes_where_that_is_chosen(TensorType type) {
    Tensor tensor = RandomTensors.of(type, ROWS, COLUMNS, random);
    float[] weights = new float[COLUMNS];
    float[] widened = columns(upload(tensor, CudaConfig.Weights.BF16));
    float[] narrowed = columns(upload(tensor, CudaConfig.Weights.FP8));
    for (int row = 0; row < ROWS; row++) {
      tensor.dequantize(row, weights, 0);
      float largest = 0;
      for (float weight : weights) {
        largest = Math.max(largest, Math.abs(weight));
      }
      for (int i = 0; i < COLUMNS; i++) {
        String what = "-Dseed=%d %s row %d column %d".formatted(SEED, type, row, i);
        assertThat(widened[i * ROWS + row]).as(what).isEqualTo(Bf16.toFloat(Bf16.of(weights[i])));
        // Three bits behind the first, and steps of 2^-9 near zero.
        double step = Math.max(Math.abs(weights[i]) / 16, largest / 448 / 1024) * 1.001;
        assertThat((double) Math.abs(narrowed[i * ROWS + row] - weights[i]))
            .as(what)
            .isLessThanOrEqualTo(step);
      }
    }
  }

  @Test
  void bytes_give_the_same_bits_from_every_kernel() {
    Tensor tensor = RandomTensors.of(TensorType.Q8_0, ROWS, COLUMNS, random);
    CudaMatrix matrix = upload(tensor, CudaConfig.Weights.FP8);
    long at = gpu.memory.shorts(Bf16.random(TOKENS * COLUMNS, random));
    float[] wide = multiply(matrix, at, TOKENS, 128);
    for (int bucket : new int[] {8, 32}) {
      float[] narrow = multiply(matrix, at, bucket, bucket);
      assertThat(narrow).isEqualTo(Arrays.copyOf(wide, narrow.length));
    }
  }

  @Test
  void floats_that_are_more_than_a_piece_come_whole() {
    Tensor tensor = RandomTensors.of(TensorType.F16, 6000, COLUMNS, random);
    short[] bits = gpu.memory.readShorts(upload(tensor).address());
    float[] weights = ProductCase.weights(tensor);
    assertThat(bits).hasSameSizeAs(weights);
    for (int i = 0; i < bits.length; i++) {
      if (Bf16.toFloat(bits[i]) != weights[i]) {
        assertThat(Bf16.toFloat(bits[i])).as("number " + i).isEqualTo(weights[i]);
      }
    }
  }

  /** What a matrix makes of unit vectors: its columns. */
  private static float[] columns(CudaMatrix matrix) {
    short[] units = new short[COLUMNS * COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
      units[i * COLUMNS + Bf16.place(i)] = Bf16.of(1);
    }
    return multiply(matrix, gpu.memory.shorts(units), COLUMNS, COLUMNS);
  }
}
