package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.within;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import firstlight.gpu.cuda.CudaProbe;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.model.ModelFile;
import firstlight.model.TinyModels;
import firstlight.protocol.Device;
import firstlight.protocol.MeshException;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Devices that {@link Devices} deals out on a simulated driver with two GPUs. Each is used by its
 * own thread, as gpu verticles do.
 */
class SeveralGpusTest {
  private static final int CUDA_ERROR_LAUNCH_FAILED = 719;
  private static final long SEED = Long.getLong("seed", 1);
  private static final long MEMORY = 64L << 20;
  private static final int CONTEXT = 1024;
  private static final int DECODED = 6;
  private static final int[] PROMPT =
      IntStream.range(0, 45).map(i -> (i * 977 + 13) % TinyModels.VOCABULARY).toArray();

  @TempDir Path folder;
  private ModelFile model;
  private final List<ExecutorService> threads = new ArrayList<>();

  /** A device, and the thread that uses it. */
  private record Used(Devices.Dealt dealt, ExecutorService thread) {
    Future<? extends Device> open() {
      return thread.submit(dealt.opener());
    }
  }

  @BeforeEach
  void start() {
    SimulatedGpu.require();
    Assumptions.assumeTrue(
        Gpu.class.getResource("kernels-sm_90a.cubin") != null,
        "no compiled kernels: the build had no NVRTC");
    SimulatedDriver.devices(2);
    SimulatedDriver.memory(MEMORY);
    model = ModelFile.open(TinyModels.llama(folder, SEED));
  }

  @AfterEach
  void stop() {
    threads.forEach(ExecutorService::close);
    model.close();
    SimulatedDriver.reset();
  }

  private static Devices devices(int gpus, String cuda) {
    String yaml = "{stepTokensMax: 64, contextMax: %d, cuda: {%s}}".formatted(CONTEXT, cuda);
    return Devices.found(
        GpuConfig.read(Settings.parse(yaml, _ -> null)),
        IntStream.range(0, gpus)
            .mapToObj(ordinal -> new CudaProbe.Gpu(ordinal, "SIMULATED (CPU)", 9, 0, MEMORY))
            .toList());
  }

  private List<Used> deal(Devices devices, int count) {
    List<Used> used = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ExecutorService thread = Executors.newSingleThreadExecutor();
      threads.add(thread);
      used.add(new Used(devices.deal("tiny", model), thread));
    }
    return used;
  }

  /** What is free on a GPU, seen from this thread. */
  private static long free(int ordinal) {
    try (Gpu gpu = Gpu.open(ordinal, SimulatedGpu.IMAGE)) {
      return gpu.free();
    }
  }

  private static List<Integer> generate(Device on) {
    return Steps.generate(
            on, PROMPT, Sampling.greedy(5), DECODED, PROMPT.length, Steps.blocks(0, 4))
        .stream()
        .map(SampledToken::id)
        .toList();
  }

  private static List<Float> logprobs(Device on) {
    return Steps.generate(on, PROMPT, Sampling.greedy(5), DECODED, 16, Steps.blocks(0, 4)).stream()
        .map(SampledToken::logprob)
        .toList();
  }

  private static <T> T on(Used used, Callable<T> call) throws Exception {
    return used.thread().submit(call).get();
  }

  @Test
  void devices_on_two_gpus_work_at_once_with_the_same_bits_and_each_has_its_own_memory()
      throws Exception {
    List<Used> used = deal(devices(2, ""), 2);
    List<Device> opened = List.of(used.get(0).open().get(), used.get(1).open().get());
    long free = free(0);
    assertThat(free).isLessThan(MEMORY / 2).isEqualTo(free(1));

    CyclicBarrier together = new CyclicBarrier(2);
    List<Future<List<Float>>> later = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Device device = opened.get(i);
      later.add(
          used.get(i)
              .thread()
              .submit(
                  () -> {
                    together.await();
                    return logprobs(device);
                  }));
    }
    List<Float> expected = later.get(0).get();
    assertThat(later.get(1).get()).hasSize(DECODED).isEqualTo(expected);

    on(used.get(0), closing(opened.get(0)));
    assertThat(free(0)).isEqualTo(MEMORY);
    assertThat(free(1)).isEqualTo(free);
    assertThat(on(used.get(1), () -> logprobs(opened.get(1)))).isEqualTo(expected);
    on(used.get(1), closing(opened.get(1)));
    assertThat(SimulatedDriver.liveBytes()).isZero();
  }

  private static Callable<Boolean> closing(Device device) {
    return () -> {
      device.close();
      return true;
    };
  }

  @Test
  void a_kernel_that_fails_on_one_gpu_breaks_no_other() throws Exception {
    List<Used> used = deal(devices(2, ""), 2);
    Device broken = used.get(0).open().get();
    Device whole = used.get(1).open().get();
    List<Integer> expected = on(used.get(0), () -> generate(broken));
    SimulatedDriver.inject(CUDA_ERROR_LAUNCH_FAILED, 1);
    assertThatThrownBy(() -> on(used.get(0), () -> generate(broken)))
        .cause()
        .isInstanceOfSatisfying(
            MeshException.class, e -> assertThat(e.code()).isEqualTo("device_launch_failed"));
    assertThat(on(used.get(1), () -> generate(whole))).isEqualTo(expected);
    on(used.get(0), closing(broken));
    Device again = used.get(0).open().get();
    assertThat(on(used.get(0), () -> generate(again))).isEqualTo(expected);
    on(used.get(0), closing(again));
    on(used.get(1), closing(whole));
  }

  @Test
  void devices_on_one_gpu_share_its_memory_alike_also_when_one_is_opened_again() throws Exception {
    List<Used> used = deal(devices(1, ""), 2);
    Device first = used.get(0).open().get();
    Device second = used.get(1).open().get();
    int blocks = first.capacity().blocks();
    assertThat(blocks).isGreaterThan(CONTEXT / 16);
    assertThat(second.capacity().blocks()).isCloseTo(blocks, within(blocks / 20));
    on(used.get(0), closing(first));
    Device again = used.get(0).open().get();
    assertThat(again.capacity().blocks()).isCloseTo(blocks, within(blocks / 20));
    on(used.get(0), closing(again));
    on(used.get(1), closing(second));
  }

  @Test
  void what_a_model_needs_is_known_beforehand() throws Exception {
    for (CudaConfig.Weights weights : CudaConfig.Weights.values()) {
      Devices devices = devices(1, "kvMemory: 4MiB, weights: " + weights.name().toLowerCase());
      Used used = deal(devices, 1).getFirst();
      Device device = used.open().get();
      long needed = MEMORY - free(0) - (4L << 20);
      GpuConfig config =
          GpuConfig.read(
              Settings.parse(
                  "{stepTokensMax: 64, contextMax: %d, cuda: {weights: %s}}"
                      .formatted(CONTEXT, weights.name().toLowerCase()),
                  _ -> null));
      assertThat((double) needed)
          .as("%s", weights)
          .isCloseTo(CudaNeed.bytes(model, config), within(2.0 * (1 << 20)));
      on(used, closing(device));
    }
  }

  @Test
  void memory_for_less_than_a_context_is_warned_of_and_for_hardly_anything_is_an_error()
      throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(LoadedModel.class);
    logger.addAppender(log);
    log.start();
    try {
      Used used = deal(devices(1, ""), 1).getFirst();
      Device whole = used.open().get();
      long needed = MEMORY - free(0) - kvBytes(whole);
      assertThat(log.list).noneMatch(event -> event.getLevel().toString().equals("WARN"));
      on(used, closing(whole));

      SimulatedDriver.memory(needed + kvBytes(40));
      Device small = used.open().get();
      int tokens = small.capacity().blocks() * 16;
      assertThat(tokens).isBetween(256, 640);
      assertThat(small.capacity().contextMax()).isEqualTo(tokens);
      assertThat(log.list)
          .filteredOn(event -> event.getLevel().toString().equals("WARN"))
          .singleElement()
          .satisfies(
              event ->
                  assertThat(event.getFormattedMessage())
                      .startsWith("tiny on GPU 0, SIMULATED (CPU): ")
                      .contains(tokens + " tokens in all", "may have 1024", "gpu.cuda.weights"));
      on(used, closing(small));

      SimulatedDriver.memory(needed + kvBytes(12));
      ExecutionException failure =
          catchThrowableOfType(ExecutionException.class, () -> used.open().get());
      assertThat(failure.getCause())
          .isInstanceOf(UnusableDevice.class)
          .hasMessageContainingAll("tiny on GPU 0", "256 are the least", "fewer models");
      assertThat(SimulatedDriver.liveBytes()).isZero();
    } finally {
      logger.detachAppender(log);
    }
  }

  private long kvBytes(long blocks) {
    return blocks * CudaShape.blockBytes(model.hyperparameters(), 16);
  }

  private long kvBytes(Device device) {
    return kvBytes(device.capacity().blocks());
  }
}
