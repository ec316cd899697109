package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.model.Tensor;
import firstlight.model.TensorType;
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

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "true, true"})
  void a_row_is_added_to_and_normalised(boolean adds, boolean hasPostNorm) {
    NormCase of = NormCase.random(adds, hasPostNorm, random);
    short[] natural = new short[0];
    for (int order = 0; order <= 10; order++) {
      SimulatedDriver.order(order);
      long out = gpu.memory.room((long) NormCase.ROWS * NormCase.SIZE * Short.BYTES);
      NormCase.Outcome outcome = of.run(gpu.memory, gpu.kernels, out);
      natural = order == 0 ? outcome.normed() : natural;
      assertThat(outcome.normed()).as("order " + order).isEqualTo(natural);
      KernelAssert.within(
          RowCheck.FLOAT_TOLERANCE,
          Bf16.doubles(outcome.stream()),
          KernelDistance.flat(of.sums()),
          "stream");
    }
    SimulatedDriver.order(0);
    KernelAssert.within(
        RowCheck.BF16_TOLERANCE,
        KernelDistance.flat(Bf16.rows(natural, NormCase.SIZE)),
        KernelDistance.flat(of.normed()),
        "-Dseed=" + SEED);
  }

  @Test
  void only_the_rows_that_are_wanted_are_taken() {
    NormCase of = NormCase.random(false, false, random);
    int[] wanted = {4, 1, 3};
    long out = gpu.memory.shorts(new short[4 * NormCase.SIZE]);
    short[] bits = of.run(gpu.memory, gpu.kernels, out, wanted).normed();
    double[][] expected = new double[4][NormCase.SIZE];
    for (int i = 0; i < wanted.length; i++) {
      expected[i] = of.normed()[wanted[i]];
    }
    KernelAssert.within(
        RowCheck.BF16_TOLERANCE,
        KernelDistance.flat(Bf16.rows(bits, NormCase.SIZE)),
        KernelDistance.flat(expected),
        "wanted");
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void gates_are_activated_and_multiplied(boolean isGelu) {
    ActivationCase of = ActivationCase.random(isGelu, random);
    KernelAssert.within(
        RowCheck.BF16_TOLERANCE,
        KernelDistance.flat(Bf16.rows(of.run(gpu.memory, gpu.kernels), ActivationCase.SIZE)),
        of.expected(),
        "-Dseed=" + SEED);
  }

  @Test
  void rows_in_the_order_of_lanes_get_that_of_their_elements_again() {
    int columns = 1056;
    short[] kept = Bf16.random(3 * columns, random);
    long out = gpu.memory.room(kept.length * 2L);
    gpu.memory.run(
        gpu.kernels.restore(new KernelArguments.Restore(out, gpu.memory.shorts(kept), columns), 3));
    short[] restored = gpu.memory.readShorts(out);
    for (int i = 0; i < kept.length; i++) {
      short expected = kept[i / columns * columns + Bf16.place(i % columns)];
      assertThat(restored[i]).as("-Dseed=%d, element %d", SEED, i).isEqualTo(expected);
    }
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
    long stream = gpu.memory.room((long) tokens.length * columns * Float.BYTES);
    gpu.memory.run(
        gpu.kernels.embed(
            new KernelArguments.Embed(
                stream,
                matrix,
                gpu.memory.ints(tokens),
                3,
                gpu.memory.counts(tokens.length, 0, 0, 1)),
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
        1e-7,
        Bf16.doubles(gpu.memory.readFloats(stream)),
        Bf16.doubles(expected),
        "-Dseed=" + SEED);
  }
}
