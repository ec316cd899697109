package firstlight.gpu;

import firstlight.model.Hyperparameters;
import firstlight.model.InvalidModelFile;
import firstlight.model.Model;
import firstlight.model.ModelFile;
import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Numerics;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Slice;
import firstlight.protocol.SliceResult;
import firstlight.protocol.StepResult;
import firstlight.protocol.Time;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device made of the processor's cores. A Sequence's numbers depend on its own tokens alone: not
 * on its neighbours in the Step, on how its prompt was cut, on Blocks, or on the number of threads.
 */
public final class CpuDevice implements Device {
  private static final Logger LOG = LoggerFactory.getLogger(CpuDevice.class);
  private static final int WIDTH = Activations.BLOCK;

  private final DeviceCapacity capacity;
  private final StepCheck check;
  private final WeightStore.Lease lease;
  private final KvMemory memory;
  private final Transformer transformer;
  private final Head head;
  private final DeviceThreads threads;
  private final Time time;

  private CpuDevice(
      WeightStore.Lease lease, DeviceCapacity capacity, DeviceShape shape, Time time) {
    ModelWeights weights = lease.weights();
    this.lease = lease;
    this.memory = new KvMemory(shape.kv(), shape.blocks());
    this.capacity = capacity;
    this.check = new StepCheck(capacity);
    this.transformer = new Transformer(weights, memory, shape);
    this.head = new Head(weights, shape);
    this.threads = new DeviceThreads("firstlight-cpu", shape.threads());
    this.time = time;
  }

  /** A device with weights of its own. */
  public static CpuDevice open(Model model, GpuConfig config) {
    return open(model, config, new WeightStore());
  }

  /**
   * Packs the model's weights, which takes a second or two, unless they are in the store already;
   * the file is not needed afterwards.
   *
   * @throws InvalidModelFile the model cannot run here, or its file was changed meanwhile
   */
  static CpuDevice open(Model model, GpuConfig config, WeightStore store) {
    return open(model.name(), model.file(), config, store);
  }

  static CpuDevice open(String name, ModelFile file, GpuConfig config) {
    return open(name, file, config, new WeightStore());
  }

  static CpuDevice open(String name, ModelFile file, GpuConfig config, WeightStore store) {
    Time time = Time.system();
    long start = time.nanos();
    Hyperparameters model = file.hyperparameters();
    requireWidths(model);
    DeviceShape shape = DeviceShape.of(model, config);
    boolean natively = natively(config);
    WeightStore.Lease lease = store.acquire(file, config.kernels(), natively, shape.contextMax());
    CpuDevice device = open(name, file, shape, lease, time);
    LOG.info(
        "{} is packed for {}-bit vectors in {} ms, {} kernels: {} Blocks of {} tokens, {} threads",
        name,
        Lanes.FLOATS.vectorBitSize(),
        (time.nanos() - start) / 1_000_000,
        natively ? "native" + NativeKernels.extras() : "Java",
        shape.blocks(),
        shape.kv().blockTokens(),
        shape.threads());
    return device;
  }

  private static CpuDevice open(
      String name, ModelFile file, DeviceShape shape, WeightStore.Lease lease, Time time) {
    DeviceCapacity capacity =
        new DeviceCapacity(
            name,
            shape.blocks(),
            shape.kv().blockTokens(),
            shape.stepTokensMax(),
            shape.contextMax(),
            file.hyperparameters().vocabulary(),
            new Numerics("cpu", shape.kernels(), Lanes.FLOATS.vectorBitSize(), file.digest()));
    try {
      file.checkUnchanged();
      return new CpuDevice(lease, capacity, shape, time);
    } catch (RuntimeException | Error e) {
      lease.close();
      throw e;
    }
  }

  /** Floats need no byte products, so nothing native is loaded for them. */
  static boolean natively(GpuConfig config) {
    boolean wanted =
        config.kernels() == GpuConfig.Kernels.Q8 && config.provider() != GpuConfig.Provider.JAVA;
    boolean natively = wanted && NativeKernels.available();
    if (wanted && !natively && config.provider() == GpuConfig.Provider.NATIVE) {
      throw new UnsupportedOperationException(
          "gpu.provider is native, but there are no native kernels here: they need a processor with"
              + " AVX-512 VNNI or AVX-VNNI, and g++; use auto or java");
    }
    return natively;
  }

  private static void requireWidths(Hyperparameters model) {
    if (model.headSize() % WIDTH != 0
        || model.embedding() % WIDTH != 0
        || model.feedForward() % WIDTH != 0) {
      throw new UnsupportedOperationException(
          "the cpu device needs widths that are multiples of %d; head size, embedding and"
                  .formatted(WIDTH)
              + " feed-forward are %d, %d and %d"
                  .formatted(model.headSize(), model.embedding(), model.feedForward()));
    }
  }

  @Override
  public DeviceCapacity capacity() {
    return capacity;
  }

  /**
   * {@inheritDoc}
   *
   * @throws MeshException of kind INVALID_REQUEST when the Step does not fit the capacity; nothing
   *     has changed then
   */
  @Override
  public StepResult run(RunStep step) {
    check.check(step);
    long start = time.nanos();
    StepRows rows = StepRows.of(step);
    AttentionPhase.Plans plans = transformer.plans(rows);
    SampledToken[] sampled = new SampledToken[rows.sampled().length];
    try {
      threads.run(
          transformer.phases() + head.phases(sampled.length),
          turn -> {
            transformer.run(rows, plans, turn);
            head.run(rows, transformer.stream(), sampled, turn);
          });
    } catch (IllegalStateException e) {
      LOG.error("the cpu device is lost", e);
      throw new MeshException(
          FailureKind.DEVICE_LOST, "device_lost", "The device that ran the model failed.");
    }
    return new StepResult(step.step(), results(step, sampled), time.nanos() - start);
  }

  private static List<SliceResult> results(RunStep step, SampledToken[] sampled) {
    List<SliceResult> results = new ArrayList<>();
    int next = 0;
    for (Slice slice : step.slices()) {
      int end = next + slice.sampled();
      results.add(new SliceResult(slice.generation(), Arrays.asList(sampled).subList(next, end)));
      next = end;
    }
    return results;
  }

  @Override
  public void close() {
    threads.close();
    memory.close();
    lease.close();
  }
}
