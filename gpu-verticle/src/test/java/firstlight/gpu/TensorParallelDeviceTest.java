package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.model.ModelFile;
import firstlight.model.TinyModels;
import firstlight.protocol.Device;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Several GPUs with one model on the simulated driver. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TensorParallelDeviceTest {
  private static final int CUDA_ERROR_OUT_OF_MEMORY = 2;
  private static final int CUDA_ERROR_LAUNCH_FAILED = 719;
  private static final int CUDA_ERROR_UNKNOWN = 999;
  private static final long SEED = Long.getLong("seed", 1);
  private static final int DECODED = 5;
  private static final int[] PROMPT =
      IntStream.range(0, 75).map(i -> (i * 977 + 13) % TinyModels.VOCABULARY).toArray();
  private static final Sampling CHANCE =
      new Sampling(0.9f, 0, 0.95f, 0, 1.1f, 0.3f, 0.2f, Steps.NOTHING, new float[0], 7, 5);

  @TempDir Path folder;

  @BeforeEach
  void require() {
    SimulatedGpu.require();
    SimulatedDriver.devices(8);
  }

  @AfterEach
  void reset() {
    SimulatedDriver.reset();
  }

  private static GpuConfig config(CudaConfig.Weights weights, boolean graphs) {
    GpuConfig base = TestDevices.config(GpuConfig.Kernels.Q8, 2, 16);
    return TestDevices.on(base, new CudaConfig(weights, 0, graphs));
  }

  private static Device open(ModelFile file, GpuConfig config, int gpus) {
    List<Integer> ordinals = IntStream.range(0, gpus).boxed().toList();
    List<LoadedModel.Opening> openings =
        LoadedModel.Opening.of("tiny", CudaWeightSource.of(file), config, ordinals, KvShare.WHOLE);
    return gpus == 1
        ? CudaDevice.open(openings.getFirst(), SimulatedGpu.IMAGE)
        : TensorParallelDevice.open(
            openings, opening -> LoadedModel.load(opening, SimulatedGpu.IMAGE));
  }

  private ModelFile model(String architecture) {
    return ModelFile.open(
        switch (architecture) {
          case "llama" -> TinyModels.llama(folder, SEED);
          case "llama of 8 heads" -> TinyModels.llama(folder, 8, SEED);
          default -> TinyModels.gemma3(folder, SEED);
        });
  }

  private static List<SampledToken> generate(Device on, int chunk) {
    return Steps.generate(on, PROMPT, CHANCE, DECODED, chunk, Steps.blocks(2, 6));
  }

  private static void assertSame(List<SampledToken> actual, List<SampledToken> expected) {
    assertThat(actual).usingRecursiveComparison().isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "llama, 2, FILE, true",
    "llama, 2, FILE, false",
    "llama of 8 heads, 4, FILE, true",
    "llama of 8 heads, 8, BF16, false",
    "gemma3, 2, FILE, true"
  })
  void its_tokens_are_those_of_one_gpu_bit_for_bit(
      String architecture, int gpus, CudaConfig.Weights weights, boolean graphs) {
    try (ModelFile file = model(architecture);
        Device one = open(file, config(weights, true), 1);
        Device several = open(file, config(weights, graphs), gpus)) {
      assertSame(generate(several, PROMPT.length), generate(one, PROMPT.length));
      assertSame(generate(several, 7), generate(one, PROMPT.length));
      assertThat(several.capacity()).isEqualTo(one.capacity());
    }
  }

  @Test
  void bytes_have_other_scales_and_so_another_name() {
    try (ModelFile file = model("llama");
        Device one = open(file, config(CudaConfig.Weights.FP8, true), 1);
        Device two = open(file, config(CudaConfig.Weights.FP8, true), 2)) {
      assertThat(two.capacity().numerics()).isNotEqualTo(one.capacity().numerics());
      assertSame(generate(two, 7), generate(two, PROMPT.length));
    }
  }

  @Test
  void each_gpu_keeps_a_share_and_all_give_back_what_they_have() {
    try (ModelFile file = model("llama")) {
      Device one = open(file, config(CudaConfig.Weights.BF16, true), 1);
      long whole = SimulatedDriver.liveBytes(0);
      one.close();
      Device two = open(file, config(CudaConfig.Weights.BF16, true), 2);
      assertThat(SimulatedDriver.liveBytes(0)).isLessThan(whole);
      assertThat(SimulatedDriver.liveBytes(1)).isLessThanOrEqualTo(SimulatedDriver.liveBytes(0));
      generate(two, PROMPT.length);
      two.close();
      assertThat(SimulatedDriver.liveBytes()).isZero();
    }
  }

  @Test
  void a_model_that_can_not_be_shared_by_so_many_is_refused_with_what_can() {
    try (ModelFile file = model("llama")) {
      assertThatThrownBy(() -> open(file, config(CudaConfig.Weights.FILE, true), 8))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("can not be shared by 8 GPUs")
          .hasMessageContaining("gpu.cuda.tensorParallel may be one of [1, 2]");
      assertThat(SimulatedDriver.liveBytes()).isZero();
    }
  }

  @Test
  void memory_that_runs_out_on_any_of_them_is_told_and_nothing_is_kept() {
    try (ModelFile file = model("llama")) {
      GpuConfig config = config(CudaConfig.Weights.FILE, true);
      long from = SimulatedDriver.allocations();
      open(file, config, 2).close();
      long count = SimulatedDriver.allocations() - from;
      for (long after = 1; after <= count; after += 1 + count / 15) {
        SimulatedDriver.inject(CUDA_ERROR_OUT_OF_MEMORY, after);
        CudaException failure =
            catchThrowableOfType(CudaException.class, () -> open(file, config, 2).close());
        assertThat(failure.kind()).isEqualTo(CudaException.Kind.OUT_OF_MEMORY);
        assertThat(SimulatedDriver.liveBytes()).as("after " + after).isZero();
      }
    }
  }

  /** Whichever GPU it hits: the others wait for it in the middle of the Step. */
  @ParameterizedTest
  @CsvSource({
    CUDA_ERROR_LAUNCH_FAILED + ", device_launch_failed",
    CUDA_ERROR_UNKNOWN + ", device_lost"
  })
  void a_gpu_that_fails_ends_the_step_of_all_and_they_can_be_opened_again(int result, String code) {
    try (ModelFile file = model("llama")) {
      GpuConfig config = config(CudaConfig.Weights.FILE, false);
      for (int after : new int[] {1, 2, 9, 30}) {
        Device device = open(file, config, 2);
        List<SampledToken> before = generate(device, PROMPT.length);
        SimulatedDriver.inject(result, after);
        MeshException failure =
            catchThrowableOfType(MeshException.class, () -> generate(device, PROMPT.length));
        assertThat(failure.kind()).isEqualTo(FailureKind.DEVICE_LOST);
        assertThat(failure.code()).isEqualTo(code);
        device.close();
        assertThat(SimulatedDriver.liveBytes()).as("after " + after).isZero();
        try (Device again = open(file, config, 2)) {
          assertSame(generate(again, PROMPT.length), before);
        }
      }
    }
  }

  @Test
  void a_step_that_does_not_fit_is_refused_and_the_next_one_runs() {
    try (ModelFile file = model("llama");
        Device device = open(file, config(CudaConfig.Weights.FILE, true), 2)) {
      RunStep wrong = new RunStep(1, List.of(Steps.slice("g", PROMPT, 0, new int[] {9999}, 1)));
      assertThatThrownBy(() -> device.run(wrong))
          .isInstanceOf(MeshException.class)
          .extracting(failure -> ((MeshException) failure).kind())
          .isEqualTo(FailureKind.INVALID_REQUEST);
      assertThat(generate(device, PROMPT.length)).hasSize(DECODED);
    }
  }
}
