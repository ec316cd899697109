package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.model.ModelFile;
import firstlight.model.TinyModels;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole device on the simulated driver, with models that know nothing. */
class CudaDeviceTest {
  private static final int CUDA_ERROR_OUT_OF_MEMORY = 2;
  private static final int CUDA_ERROR_LAUNCH_FAILED = 719;
  private static final int CUDA_ERROR_UNKNOWN = 999;
  private static final long SEED = Long.getLong("seed", 1);
  private static final int DECODED = 6;

  /** More than there is room for logits of. */
  private static final int STEP_TOKENS = 320;

  private static final int[] PROMPT =
      IntStream.range(0, 45).map(i -> (i * 977 + 13) % TinyModels.VOCABULARY).toArray();
  private static final Sampling CHANCE =
      new Sampling(0.9f, 0, 0.95f, 0, 1.1f, 0.3f, 0.2f, Steps.NOTHING, new float[0], 7, 5);

  @TempDir Path folder;

  @BeforeEach
  void require() {
    SimulatedGpu.require();
  }

  @AfterEach
  void reset() {
    SimulatedDriver.reset();
  }

  private static GpuConfig config(CudaConfig cuda) {
    GpuConfig base = TestDevices.config(GpuConfig.Kernels.FLOAT32, 2, 16);
    return new GpuConfig(
        base.device(),
        base.kernels(),
        base.provider(),
        base.threads(),
        base.kvType(),
        base.kvMemoryBytes(),
        64,
        base.blockTokens(),
        STEP_TOKENS,
        1024,
        base.stepTimeLimit(),
        base.ownerTimeout(),
        base.warmUp(),
        cuda);
  }

  private static CudaDevice open(ModelFile file, CudaConfig.Weights weights, boolean graphs) {
    return CudaDevice.open(
        new LoadedModel.Opening(
            "tiny", CudaWeightSource.of(file), config(new CudaConfig(weights, 0, graphs)), 0),
        SimulatedGpu.IMAGE);
  }

  private ModelFile model(String architecture) {
    return ModelFile.open(
        architecture.equals("llama")
            ? TinyModels.llama(folder, SEED)
            : TinyModels.gemma3(folder, SEED));
  }

  /** Every position's best tokens, the prompt forced. */
  private static List<SampledToken> forced(firstlight.protocol.Device on, int[] tokens) {
    int[] blocks = Steps.blocks(3, (tokens.length + 15) / 16);
    return Steps.run(on, Steps.slice("g", tokens, 0, blocks, tokens.length));
  }

  @ParameterizedTest
  @CsvSource({"llama, FILE, 0.015", "gemma3, FILE, 0.015", "llama, FP8, 0.25"})
  void its_numbers_are_those_of_the_cpu_devices_float32_kernels(
      String architecture, CudaConfig.Weights weights, double tolerance) {
    int[] tokens = new Random(SEED).ints(120, 0, TinyModels.VOCABULARY).toArray();
    try (ModelFile file = model(architecture);
        CpuDevice cpu = CpuDevice.open("tiny", file, config(GpuConfig.defaults().cuda()));
        CudaDevice cuda = open(file, weights, true)) {
      List<SampledToken> expected = forced(cpu, tokens);
      List<SampledToken> actual = forced(cuda, tokens);
      List<Double> differences = new ArrayList<>();
      for (int i = 0; i < tokens.length; i++) {
        for (int rank = 0; rank < 3; rank++) {
          int id = expected.get(i).topIds()[rank];
          int at = Arrays.stream(actual.get(i).topIds()).boxed().toList().indexOf(id);
          double difference =
              at < 0 ? 0 : actual.get(i).topLogprobs()[at] - expected.get(i).topLogprobs()[rank];
          differences.add(Math.abs(difference));
        }
      }
      double median = differences.stream().sorted().toList().get(differences.size() / 2);
      assertThat(median)
          .as("-Dseed=%d the median difference of log-probabilities", SEED)
          .isLessThan(tolerance);
    }
  }

  private static List<SampledToken> generate(CudaDevice on, int chunk, int[] blocks) {
    return Steps.generate(on, PROMPT, CHANCE, DECODED, chunk, blocks);
  }

  private static void assertSame(List<SampledToken> actual, List<SampledToken> expected) {
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < actual.size(); i++) {
      assertThat(actual.get(i).id()).isEqualTo(expected.get(i).id());
      assertThat(actual.get(i).logprob()).isEqualTo(expected.get(i).logprob());
      assertThat(actual.get(i).topLogprobs()).isEqualTo(expected.get(i).topLogprobs());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama", "gemma3"})
  void chunks_blocks_neighbours_graphs_and_the_order_of_threads_change_no_bit(String architecture) {
    try (ModelFile file = model(architecture);
        CudaDevice device = open(file, CudaConfig.Weights.FILE, true);
        CudaDevice single = open(file, CudaConfig.Weights.FILE, false)) {
      List<SampledToken> alone = generate(device, PROMPT.length, Steps.blocks(0, 4));
      assertSame(generate(device, 7, new int[] {41, 7, 30, 2}), alone);
      assertSame(generate(single, PROMPT.length, Steps.blocks(9, 4)), alone);
      SimulatedDriver.order(5);
      assertSame(generate(single, 16, Steps.blocks(0, 4)), alone);
      SimulatedDriver.order(0);
      assertSame(inCrowd(device), alone);
    }
  }

  /** Among other Sequences, each Step with others. */
  private static List<SampledToken> inCrowd(CudaDevice device) {
    Random random = new Random(SEED);
    List<SampledToken> tokens = new ArrayList<>();
    for (int fed = 0; tokens.size() < DECODED; ) {
      Slice ours = Steps.next(PROMPT, CHANCE, fed, 9, Steps.blocks(0, 4), tokens);
      List<Slice> slices = new ArrayList<>();
      for (int i = 0; i < 1 + random.nextInt(6); i++) {
        int[] others = random.ints(1 + random.nextInt(15), 0, TinyModels.VOCABULARY).toArray();
        int start = random.nextInt(17);
        slices.add(Steps.slice("o" + i, others, start, Steps.blocks(10 + 2 * i, 2), 1));
      }
      int at = random.nextInt(slices.size() + 1);
      slices.add(at, ours);
      tokens.addAll(device.run(new RunStep(1, slices)).slices().get(at).tokens());
      fed = ours.end();
    }
    return tokens;
  }

  @Test
  void a_long_context_is_the_same_from_splits_that_are_dealt_out() {
    int[] tokens = new Random(SEED).ints(600, 0, TinyModels.VOCABULARY).toArray();
    int[] blocks = Steps.blocks(0, 38);
    try (ModelFile file = model("llama");
        CudaDevice device = open(file, CudaConfig.Weights.FILE, true)) {
      List<SampledToken> expected = new ArrayList<>();
      for (int fed = 0; fed < 600; fed += 100) {
        int[] part = Arrays.copyOfRange(tokens, fed, fed + 100);
        expected = Steps.run(device, Steps.slice("g", part, fed, blocks, 2));
      }
      int[] last = {tokens[599]};
      assertSame(
          Steps.run(device, Steps.slice("g", last, 599, blocks, 1)), List.of(expected.get(1)));
    }
  }

  @Test
  void more_sampled_rows_than_there_is_room_for_logits_change_nothing() {
    int[] tokens = new Random(SEED).ints(STEP_TOKENS, 0, TinyModels.VOCABULARY).toArray();
    int[] blocks = Steps.blocks(3, STEP_TOKENS / 16);
    try (ModelFile file = model("llama");
        CudaDevice device = open(file, CudaConfig.Weights.FILE, true)) {
      List<SampledToken> once = forced(device, tokens);
      List<SampledToken> twice = new ArrayList<>();
      for (int fed = 0; fed < STEP_TOKENS; fed += STEP_TOKENS / 2) {
        int[] part = Arrays.copyOfRange(tokens, fed, fed + STEP_TOKENS / 2);
        twice.addAll(Steps.run(device, Steps.slice("g", part, fed, blocks, part.length)));
      }
      assertSame(once, twice);
    }
  }

  @Test
  void a_step_neither_allocates_nor_waits_more_than_once() {
    try (ModelFile file = model("llama");
        CudaDevice device = open(file, CudaConfig.Weights.FILE, true)) {
      generate(device, PROMPT.length, Steps.blocks(0, 4));
      long allocations = SimulatedDriver.allocations();
      long launches = SimulatedDriver.launches();
      long waits = SimulatedDriver.synchronizations();
      Steps.run(
          device, Steps.next(PROMPT, CHANCE, PROMPT.length, 1, Steps.blocks(0, 4), List.of()));
      assertThat(SimulatedDriver.allocations()).isEqualTo(allocations);
      assertThat(SimulatedDriver.launches()).isEqualTo(launches + 1);
      assertThat(SimulatedDriver.synchronizations()).isEqualTo(waits + 1);
    }
  }

  @Test
  void all_memory_is_given_back() {
    try (ModelFile file = model("llama")) {
      open(file, CudaConfig.Weights.BF16, true).close();
      assertThat(SimulatedDriver.liveBytes()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({
    CUDA_ERROR_LAUNCH_FAILED + ", device_launch_failed",
    CUDA_ERROR_UNKNOWN + ", device_lost"
  })
  void a_failure_has_a_name_and_another_device_can_be_opened(int result, String code) {
    try (ModelFile file = model("llama")) {
      CudaDevice device = open(file, CudaConfig.Weights.FILE, true);
      List<SampledToken> before = generate(device, PROMPT.length, Steps.blocks(0, 4));
      SimulatedDriver.inject(result, 1);
      MeshException failure =
          catchThrowableOfType(
              MeshException.class, () -> generate(device, PROMPT.length, Steps.blocks(0, 4)));
      assertThat(failure.kind()).isEqualTo(FailureKind.DEVICE_LOST);
      assertThat(failure.code()).isEqualTo(code);
      device.close();
      assertThat(SimulatedDriver.liveBytes()).isZero();
      try (CudaDevice again = open(file, CudaConfig.Weights.FILE, true)) {
        assertSame(generate(again, PROMPT.length, Steps.blocks(0, 4)), before);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(CudaConfig.Weights.class)
  void a_model_that_does_not_fit_is_told_so_wherever_memory_runs_out(CudaConfig.Weights weights) {
    try (ModelFile file = model("llama")) {
      long from = SimulatedDriver.allocations();
      open(file, weights, false).close();
      long count = SimulatedDriver.allocations() - from;
      for (long after = 1; after <= count; after += 1 + count / 20) {
        SimulatedDriver.inject(CUDA_ERROR_OUT_OF_MEMORY, after);
        CudaException failure =
            catchThrowableOfType(CudaException.class, () -> open(file, weights, false).close());
        assertThat(failure.kind()).isEqualTo(CudaException.Kind.OUT_OF_MEMORY);
        assertThat(failure).hasMessageContaining("bytes ");
        assertThat(SimulatedDriver.liveBytes()).as("after " + after).isZero();
      }
    }
  }
}
