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

/** Kernels that work on a row at a time, on the simulated driver. */
class RowKernelTest {
  private static final long SEED = Long.getLong("seed", 1);

  /** Half a unit in the last place of bf16, by the number. */
  private static final double BF16_TOLERANCE = 2.2e-3;

  private static final double FLOAT_TOLERANCE = 2e-7;
  private static final float EPSILON = 1e-5f;
  private static final int SIZE = 608;
  private static final int ROWS = 5;

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

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "true, true"})
  void a_row_is_added_to_and_normalised(boolean adds, boolean hasPostNorm) {
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

    short[] natural = new short[0];
    for (int order = 0; order <= 10; order++) {
      SimulatedDriver.order(order);
      long at = gpu.floats(stream);
      long out = gpu.room((long) ROWS * SIZE * Short.BYTES);
      gpu.run(
          gpu.kernels.addNorm(
              new KernelArguments.AddNorm(
                  out,
                  at,
                  adds ? gpu.floats(added) : 0,
                  hasPostNorm ? gpu.floats(postNorm) : 0,
                  gpu.floats(norm),
                  0,
                  gpu.counts(ROWS, 0, 0, 1),
                  SIZE,
                  EPSILON),
              8));
      short[] bits = gpu.shorts(out);
      natural = order == 0 ? bits : natural;
      assertThat(bits).as("order " + order).isEqualTo(natural);
      KernelAssert.within(
          FLOAT_TOLERANCE, Bf16.doubles(gpu.floats(at)), KernelDistance.flat(sums), "stream");
    }
    SimulatedDriver.order(0);
    KernelAssert.within(
        BF16_TOLERANCE,
        KernelDistance.flat(Bf16.rows(natural, SIZE)),
        KernelDistance.flat(normed),
        "-Dseed=" + SEED);
  }

  @Test
  void only_the_rows_that_are_wanted_are_taken() {
    float[] stream = Bf16.gaussians(ROWS * SIZE, random);
    float[] norm = Bf16.gaussians(SIZE, random);
    int[] wanted = {4, 1, 3};
    long out = gpu.shorts(new short[4 * SIZE]);
    gpu.run(
        gpu.kernels.addNorm(
            new KernelArguments.AddNorm(
                out,
                gpu.floats(stream),
                0,
                0,
                gpu.floats(norm),
                gpu.ints(wanted),
                gpu.counts(ROWS, 3, 0, 1),
                SIZE,
                EPSILON),
            4));
    double[][] expected = new double[4][SIZE];
    for (int i = 0; i < wanted.length; i++) {
      expected[i] = normalised(row(stream, wanted[i]), norm);
    }
    KernelAssert.within(
        BF16_TOLERANCE,
        KernelDistance.flat(Bf16.rows(gpu.shorts(out), SIZE)),
        KernelDistance.flat(expected),
        "wanted");
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void gates_are_activated_and_multiplied(boolean isGelu) {
    float[] gates = Bf16.gaussians(ROWS * SIZE, random);
    float[] ups = Bf16.gaussians(ROWS * SIZE, random);
    double[] expected = new double[gates.length];
    for (int i = 0; i < gates.length; i++) {
      double gate = gates[i];
      double inner = Math.sqrt(2 / Math.PI) * (gate + 0.044715 * gate * gate * gate);
      double active = isGelu ? gate * (1 + Math.tanh(inner)) / 2 : gate / (1 + Math.exp(-gate));
      expected[i] = active * ups[i];
    }
    long out = gpu.room(gates.length * 2L);
    gpu.run(
        gpu.kernels.activate(
            new KernelArguments.Activate(
                out, gpu.floats(gates), gpu.floats(ups), gpu.counts(ROWS, 0, 0, 1), SIZE, isGelu),
            8));
    KernelAssert.within(
        BF16_TOLERANCE,
        KernelDistance.flat(Bf16.rows(gpu.shorts(out), SIZE)),
        expected,
        "-Dseed=" + SEED);
  }

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      mode = Mode.EXCLUDE,
      names = {"F32", "F16"})
  void tokens_become_rows_of_the_embedding(TensorType type) {
    int columns = 512;
    Tensor tensor = RandomTensors.of(type, 37, columns, random);
    int[] tokens = {36, 0, 7, 7};
    CudaMatrix matrix;
    try (WeightUpload upload = new WeightUpload(gpu.gpu, CudaConfig.Weights.FILE, 0)) {
      matrix = upload.matrix(tensor);
    }
    long stream = gpu.room((long) tokens.length * columns * Float.BYTES);
    gpu.run(
        gpu.kernels.embed(
            new KernelArguments.Embed(
                stream, matrix, gpu.ints(tokens), 3, gpu.counts(tokens.length, 0, 0, 1)),
            8));
    float[] expected = new float[tokens.length * columns];
    for (int i = 0; i < tokens.length; i++) {
      tensor.dequantize(tokens[i], expected, i * columns);
    }
    for (int i = 0; i < expected.length; i++) {
      expected[i] *= 3;
    }
    // Numbers are made of the same products; where there is a minimum it may be one rounding less.
    KernelAssert.within(
        1e-7, Bf16.doubles(gpu.floats(stream)), Bf16.doubles(expected), "-Dseed=" + SEED);
  }
}
