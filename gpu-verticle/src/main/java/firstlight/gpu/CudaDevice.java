package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaGraph;
import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.Nccl;
import firstlight.gpu.cuda.PinnedMemory;
import firstlight.gpu.cuda.StreamWork;
import firstlight.model.Hyperparameters;
import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Numerics;
import firstlight.protocol.RunStep;
import firstlight.protocol.StepResult;
import firstlight.protocol.Time;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device made of one NVIDIA GPU, or one of the GPUs of a {@link TensorParallelDevice}. A
 * Sequence's numbers depend on its own tokens alone, as on the cpu device: not on its neighbours in
 * the Step, on how its prompt was cut, or on Blocks. With {@link CudaConfig.Products#CUBLASLT} that
 * is not so.
 *
 * <p>Used by one thread, that which opens it.
 */
final class CudaDevice implements Device {
  private static final Logger LOG = LoggerFactory.getLogger(CudaDevice.class);

  private final Gpu gpu;
  private final CudaShape shape;
  private final DeviceCapacity capacity;
  private final StepCheck check;
  private final CudaForward.Parts parts;
  private final StepStaging staging;
  private final DeviceMemory answers;
  private final PinnedMemory pinnedAnswers;
  private final boolean useGraphs;
  private final boolean makesTokens;
  private final KvShare share;
  private final Time time;
  private final Map<StepBucket, Prepared> prepared = new HashMap<>();

  /** The launches of a bucket, one by one or as a graph. */
  private sealed interface Prepared {
    record Launches(List<StreamWork> all) implements Prepared {}

    record Graph(CudaGraph graph) implements Prepared {}
  }

  /**
   * @param blocks of KV memory
   * @param nccl which connects the GPU with those that have the model's other shares
   */
  CudaDevice(LoadedModel loaded, long blocks, Optional<Nccl> nccl) {
    gpu = loaded.gpu();
    LoadedModel.Opening opening = loaded.opening();
    time = opening.time();
    share = opening.kvShare();
    CudaWeights weights = loaded.weights();
    Hyperparameters model = weights.model();
    useGraphs = opening.config().cuda().graphs();
    makesTokens = opening.shard().isFirst();
    shape = CudaShape.of(model, opening.config(), blocks);
    CudaWorkspace workspace = loaded.workspace();
    staging = workspace.staging();
    answers = workspace.answers();
    pinnedAnswers = workspace.pinnedAnswers();
    long blockBytes = CudaShape.blockBytes(model, shape.blockTokens());
    DeviceMemory kv = gpu.allocate(blockBytes * shape.blocks(), "keys and values");
    Optional<CudaForward.Peers> peers =
        nccl.map(connected -> new CudaForward.Peers(connected, opening.shard()));
    parts =
        new CudaForward.Parts(
            new Kernels(gpu),
            loaded.products(),
            weights,
            shape,
            workspace.buffers(),
            kv.address(),
            peers);
    capacity =
        new DeviceCapacity(
            opening.name(),
            shape.blocks(),
            shape.blockTokens(),
            shape.stepTokensMax(),
            shape.contextMax(),
            model.vocabulary(),
            numerics(loaded));
    check = new StepCheck(capacity);
  }

  /** Opens one GPU for a whole model, for this thread: see {@link LoadedModel#load}. */
  static CudaDevice open(LoadedModel.Opening opening) {
    return alone(LoadedModel.load(opening));
  }

  /**
   * @param kernels compiled for the GPU
   */
  static CudaDevice open(LoadedModel.Opening opening, byte[] kernels) {
    return alone(LoadedModel.load(opening, kernels));
  }

  private static CudaDevice alone(LoadedModel loaded) {
    long blocks;
    try {
      blocks = loaded.blocks();
    } catch (RuntimeException | Error e) {
      loaded.close();
      throw e;
    }
    return loaded.device(blocks, Optional.empty());
  }

  /**
   * How the numbers are made. Shares give the bits of the whole, but for bytes, whose scales are of
   * a share's row.
   */
  private static Numerics numerics(LoadedModel loaded) {
    LoadedModel.Opening opening = loaded.opening();
    CudaConfig.Weights weights = opening.config().cuda().weights();
    int shares = opening.shard().count();
    String kernels =
        "%s%s-kv16%s-sm%d%d"
            .formatted(
                weights.name().toLowerCase(Locale.ROOT),
                weights == CudaConfig.Weights.FP8 && shares > 1 ? "x" + shares : "",
                loaded.products().areOwn() ? "" : "-cublaslt",
                loaded.nature().major(),
                loaded.nature().minor());
    return new Numerics("cuda", kernels, 0, opening.source().digest());
  }

  @Override
  public DeviceCapacity capacity() {
    return capacity;
  }

  /**
   * {@inheritDoc}
   *
   * @return without tokens where the GPU has a share of the model that is not the first
   * @throws MeshException of kind INVALID_REQUEST when the Step does not fit the capacity; nothing
   *     has changed then. Of kind DEVICE_LOST when the GPU failed; its code says how
   */
  @Override
  public StepResult run(RunStep step) {
    check.check(step);
    long start = time.nanos();
    try {
      StepRows rows = StepRows.of(step);
      int[] tableOf = staging.tables(rows);
      StepTiles tiles = StepTiles.of(rows, tableOf, shape.group());
      StepBucket bucket = bucket(rows, tiles);
      if (staging.write(rows, bucket, tableOf, tiles)) {
        forget();
      }
      Prepared work = prepared.computeIfAbsent(bucket, this::prepare);
      staging.send(bucket);
      launch(work);
      if (!makesTokens) {
        gpu.stream().await();
        return new StepResult(step.step(), List.of(), time.nanos() - start);
      }
      int sampled = rows.sampled().length;
      gpu.stream().download(answers, 0, pinnedAnswers, 0, (long) sampled * StepLayout.ANSWER_BYTES);
      gpu.stream().await();
      return new StepResult(
          step.step(),
          Answers.read(step, pinnedAnswers.segment(), capacity.vocabulary()),
          time.nanos() - start);
    } catch (CudaException e) {
      LOG.error("the GPU failed", e);
      throw failure(e);
    }
  }

  /** A kernel that fails breaks the GPU for all models that this process has on it. */
  @Override
  public void check() {
    try {
      gpu.stream().await();
    } catch (CudaException e) {
      LOG.error("the GPU failed between Steps", e);
      throw failure(e);
    }
  }

  /** Fills the KV memory, so that Sequences can be measured whose prompts nobody prefilled. */
  void fillMemory(long seed) {
    long blockBytes = CudaShape.blockBytes(parts.weights().model(), shape.blockTokens());
    long halves = blockBytes / Short.BYTES * shape.blocks();
    KernelArguments.Fill fill =
        KernelArguments.Fill.numbers(KernelArguments.FillKind.HALF, parts.kv(), halves, seed, 1);
    gpu.stream().launch(parts.kernels().fill(fill));
    gpu.stream().await();
  }

  private StepBucket bucket(StepRows rows, StepTiles tiles) {
    int splits = StepBucket.enough(tiles.splitsMax(), Integer.MAX_VALUE);
    StepBucket bucket = shape.bucket(rows.count(), rows.sampled().length, splits);
    int dealt = CudaShape.dealt(shape.tiles(bucket.rows()), splits);
    return dealt == splits ? bucket : shape.bucket(rows.count(), rows.sampled().length, dealt);
  }

  private Prepared prepare(StepBucket bucket) {
    CudaForward.Told told =
        new CudaForward.Told(staging.told(), staging.tables(), staging.extras(), answers.address());
    List<StreamWork> launches = CudaForward.launches(parts, bucket, told);
    return useGraphs
        ? new Prepared.Graph(gpu.stream().record(() -> launches.forEach(gpu.stream()::launch)))
        : new Prepared.Launches(launches);
  }

  private void launch(Prepared work) {
    switch (work) {
      case Prepared.Launches(List<StreamWork> all) -> all.forEach(gpu.stream()::launch);
      case Prepared.Graph(CudaGraph graph) -> gpu.stream().launch(graph);
    }
  }

  private void forget() {
    for (Prepared each : prepared.values()) {
      if (each instanceof Prepared.Graph(CudaGraph graph)) {
        graph.close();
      }
    }
    prepared.clear();
  }

  /** A named failure; the device is given up after any of them. */
  static MeshException failure(CudaException failure) {
    return switch (failure.kind()) {
      case OUT_OF_MEMORY -> lost("device_out_of_memory", "The GPU's memory ran out.");
      case LAUNCH_FAILED -> lost("device_launch_failed", "A kernel failed on the GPU.");
      case LOST -> lost("device_lost", "The GPU does not answer any more.");
    };
  }

  private static MeshException lost(String code, String message) {
    return new MeshException(FailureKind.DEVICE_LOST, code, message);
  }

  @Override
  public void close() {
    forget();
    gpu.close();
    share.left();
  }
}
