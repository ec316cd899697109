package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.SimulatedCublasLt;
import firstlight.gpu.cuda.SimulatedCublasLt.Function;
import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.model.ModelFile;
import firstlight.model.TinyModels;
import firstlight.protocol.Device;
import firstlight.protocol.MeshException;
import firstlight.protocol.SampledToken;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** The whole device with cuBLASLt's products, on the simulated driver and a simulated cuBLASLt. */
class CudaProductsTest {
  private static final int CUDA_ERROR_OUT_OF_MEMORY = 2;
  private static final int CUBLAS_STATUS_ALLOC_FAILED = 3;
  private static final int CUBLAS_STATUS_INTERNAL_ERROR = 14;
  private static final long SEED = Long.getLong("seed", 1);

  /** Fills a bucket of 128 in part. */
  private static final int PROMPT = 100;

  /** Of the largest bucket that stays with our own products. */
  private static final int FEW = 32;

  /** Of two layers, and of all positions' logits. */
  private static final int PRODUCTS = 2 * 7 + 1;

  private final int[] tokens = new Random(SEED).ints(PROMPT, 0, TinyModels.VOCABULARY).toArray();

  @TempDir Path folder;

  @BeforeEach
  void require() {
    SimulatedGpu.require();
    SimulatedCublasLt.products();
  }

  @AfterEach
  void reset() {
    SimulatedCublasLt.fail(Function.NONE, 0);
    SimulatedDriver.reset();
  }

  private static CudaConfig library(CudaConfig.Weights weights, boolean graphs) {
    return new CudaConfig(weights, 0, graphs, CudaConfig.Products.CUBLASLT, 1);
  }

  private static GpuConfig config(CudaConfig cuda) {
    return DeviceCheck.config(cuda, 64, 256, 1024);
  }

  private static CudaDevice open(ModelFile file, CudaConfig cuda) {
    return CudaDevice.open(
        new LoadedModel.Opening("tiny", CudaWeightSource.of(file), config(cuda), 0),
        SimulatedGpu.IMAGE);
  }

  private static CudaDevice open(ModelFile file) {
    return open(file, library(CudaConfig.Weights.FILE, true));
  }

  private ModelFile model(String architecture) {
    return ModelFile.open(
        architecture.equals("llama")
            ? TinyModels.llama(folder, SEED)
            : TinyModels.gemma3(folder, SEED));
  }

  /** Every position's best tokens, the prompt forced. */
  private List<SampledToken> forced(Device on) {
    return forced(on, tokens.length);
  }

  private List<SampledToken> forced(Device on, int count) {
    int[] some = Arrays.copyOf(tokens, count);
    return Steps.run(on, Steps.slice("g", some, 0, Steps.blocks(3, (count + 15) / 16), count));
  }

  @ParameterizedTest
  @CsvSource({"llama, true", "llama, false", "gemma3, true", "gemma3, false"})
  void its_numbers_are_those_of_the_cpu_devices_float32_kernels(
      String architecture, boolean graphs) {
    try (ModelFile file = model(architecture);
        CpuDevice cpu =
            CpuDevice.open("tiny", file, TestDevices.config(GpuConfig.Kernels.FLOAT32));
        CudaDevice cuda = open(file, library(CudaConfig.Weights.FILE, graphs))) {
      List<SampledToken> expected = forced(cpu);
      List<SampledToken> actual = forced(cuda);
      List<Double> differences = new ArrayList<>();
      for (int i = 0; i < tokens.length; i++) {
        for (int rank = 0; rank < 3; rank++) {
          int id = expected.get(i).topIds()[rank];
          int at = Arrays.stream(actual.get(i).topIds()).boxed().toList().indexOf(id);
          double logprob = at < 0 ? Double.NaN : actual.get(i).topLogprobs()[at];
          differences.add(Math.abs(logprob - expected.get(i).topLogprobs()[rank]));
        }
      }
      double median = differences.stream().sorted().toList().get(differences.size() / 2);
      assertThat(median)
          .as("-Dseed=%d the median difference of log-probabilities", SEED)
          .isLessThan(0.015);
      assertThat(differences.stream().filter(difference -> difference.isNaN()).count())
          .as("of %d likely tokens those that are not likely here", differences.size())
          .isLessThan(differences.size() / 20);
      // Once when they were prepared, once for the numbers.
      assertThat(SimulatedCublasLt.products()).isEqualTo(2 * PRODUCTS);
    }
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void few_tokens_keep_the_bits_of_our_own_products(boolean graphs) {
    try (ModelFile file = model("llama");
        CudaDevice device = open(file, library(CudaConfig.Weights.FILE, graphs));
        CudaDevice own = open(file, new CudaConfig(CudaConfig.Weights.FILE, 0, graphs))) {
      List<SampledToken> few = forced(device, FEW);
      assertThat(SimulatedCublasLt.products()).isZero();
      assertThat(logprobs(few)).isEqualTo(logprobs(forced(own, few.size())));
      List<SampledToken> many = forced(device);
      assertThat(SimulatedCublasLt.products()).isPositive();
      assertThat(logprobs(many)).isNotEqualTo(logprobs(forced(own)));
    }
  }

  private static List<Float> logprobs(List<SampledToken> of) {
    return of.stream().map(SampledToken::logprob).toList();
  }

  @Test
  void a_prepared_step_neither_allocates_nor_waits_more_than_once() {
    try (ModelFile file = model("llama");
        CudaDevice device = open(file)) {
      List<SampledToken> first = forced(device);
      long allocations = SimulatedDriver.allocations();
      long launches = SimulatedDriver.launches();
      long waits = SimulatedDriver.synchronizations();
      SimulatedCublasLt.products();
      assertThat(logprobs(forced(device))).isEqualTo(logprobs(first));
      assertThat(SimulatedCublasLt.products()).isEqualTo(PRODUCTS);
      assertThat(SimulatedDriver.allocations()).isEqualTo(allocations);
      assertThat(SimulatedDriver.launches()).isEqualTo(launches + 1);
      assertThat(SimulatedDriver.synchronizations()).isEqualTo(waits + 1);
    }
  }

  @Test
  void its_numerics_are_not_those_of_our_own_products() {
    try (ModelFile file = model("llama");
        CudaDevice device = open(file, library(CudaConfig.Weights.BF16, true));
        CudaDevice own = open(file, new CudaConfig(CudaConfig.Weights.BF16, 0, true))) {
      assertThat(device.capacity().numerics()).isNotEqualTo(own.capacity().numerics());
      assertThat(device.capacity().numerics().kernels()).isEqualTo("bf16-kv16-cublaslt-sm90");
    }
  }

  @Test
  void weights_that_are_not_bf16_stay_with_our_own_products() {
    // Of random weights, those of a file are Q8_0.
    CudaWeightSource source = new RandomWeights(CheckSizes.llama(1, 256, 512, 4, 2, 500), 3);
    GpuConfig config = config(library(CudaConfig.Weights.FILE, true));
    try (CudaDevice device =
        CudaDevice.open(new LoadedModel.Opening("tiny", source, config, 0), SimulatedGpu.IMAGE)) {
      forced(device);
      assertThat(SimulatedCublasLt.products()).isZero();
      assertThat(device.capacity().numerics().kernels()).isEqualTo("file-kv16-sm90");
    }
  }

  @Test
  void all_is_given_back_wherever_memory_runs_out() {
    long handles = SimulatedCublasLt.handles();
    try (ModelFile file = model("llama")) {
      long from = SimulatedDriver.allocations();
      open(file).close();
      long count = SimulatedDriver.allocations() - from;
      for (long after = 1; after <= count; after++) {
        SimulatedDriver.inject(CUDA_ERROR_OUT_OF_MEMORY, after);
        assertThatThrownBy(() -> open(file).close()).isInstanceOf(CudaException.class);
        assertThat(SimulatedDriver.liveBytes()).as("after " + after).isZero();
        assertThat(SimulatedCublasLt.handles()).as("after " + after).isEqualTo(handles);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    CUBLAS_STATUS_ALLOC_FAILED + ", OUT_OF_MEMORY, CUBLAS_STATUS_ALLOC_FAILED",
    CUBLAS_STATUS_INTERNAL_ERROR + ", LAUNCH_FAILED, CUBLAS_STATUS_INTERNAL_ERROR"
  })
  void a_library_that_does_not_start_is_named(int status, CudaException.Kind kind, String name) {
    try (ModelFile file = model("llama")) {
      SimulatedCublasLt.fail(Function.CREATE, status);
      CudaException failure = catchThrowableOfType(CudaException.class, () -> open(file).close());
      assertThat(failure.kind()).isEqualTo(kind);
      assertThat(failure).hasMessage("cublasLtCreate: %s (%d)", name, status);
      assertThat(SimulatedDriver.liveBytes()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Function.class,
      mode = Mode.INCLUDE,
      names = {"CHOOSE", "MULTIPLY"})
  void a_product_that_fails_is_named_and_another_device_can_be_opened(Function function) {
    try (ModelFile file = model("llama")) {
      CudaDevice device = open(file);
      SimulatedCublasLt.fail(function, CUBLAS_STATUS_INTERNAL_ERROR);
      MeshException failure = catchThrowableOfType(MeshException.class, () -> forced(device));
      assertThat(failure.code()).isEqualTo("device_launch_failed");
      device.close();
      assertThat(SimulatedDriver.liveBytes()).isZero();
      try (CudaDevice again = open(file)) {
        assertThat(forced(again)).hasSize(PROMPT);
      }
    }
  }
}
