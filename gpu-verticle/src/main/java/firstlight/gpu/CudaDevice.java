package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaGraph;
import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.KernelImages;
import firstlight.gpu.cuda.PinnedMemory;
import firstlight.gpu.cuda.StreamWork;
import firstlight.model.CacheFolder;
import firstlight.model.Hyperparameters;
import firstlight.model.InvalidModelFile;
import firstlight.model.ModelFile;
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
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device made of one NVIDIA GPU. A Sequence's numbers depend on its own tokens alone, as on the
 * cpu device: not on its neighbours in the Step, on how its prompt was cut, or on Blocks.
 *
 * <p>Used by one thread, that which opens it.
 */
final class CudaDevice implements Device {
  private static final Logger LOG = LoggerFactory.getLogger(CudaDevice.class);
  private static final int WIDTH = 32;

  /** What the attention kernels are made for. */
  private static final Set<Integer> HEAD_SIZES = Set.of(32, 64, 96, 128, 256);

  private final Gpu gpu;
  private final CudaShape shape;
  private final DeviceCapacity capacity;
  private final StepCheck check;
  private final CudaForward.Parts parts;
  private final StepStaging staging;
  private final DeviceMemory answers;
  private final PinnedMemory pinnedAnswers;
  private final boolean useGraphs;
  private final KvShare share;
  private final Time time;
  private final Map<StepBucket, Prepared> prepared = new HashMap<>();

  /** The launches of a bucket, one by one or as a graph. */
  private sealed interface Prepared {
    record Launches(List<StreamWork> all) implements Prepared {}

    record Graph(CudaGraph graph) implements Prepared {}
  }

  /** What a device is opened with. */
  private record Opening(
      String name,
      CudaWeightSource source,
      GpuConfig config,
      int ordinal,
      Gpu.Nature nature,
      KvShare share) {}

  private CudaDevice(Gpu gpu, Opening opening, Time time) {
    this.gpu = gpu;
    this.time = time;
    share = opening.share;
    GpuConfig config = opening.config;
    Hyperparameters model = opening.source.model();
    useGraphs = config.cuda().graphs();
    int positions = CudaShape.contextMax(model, config);
    CudaWeights weights = opening.source.bring(gpu, config.cuda().weights(), positions);
    // The number of Blocks goes by what is free once all else is there.
    CudaShape largest = CudaShape.of(model, config, GpuConfig.BLOCKS_MAX);
    CudaBuffers buffers = CudaBuffers.of(gpu, model, largest);
    staging = new StepStaging(gpu, largest, model.vocabulary());
    long answerBytes = (long) largest.stepTokensMax() * StepLayout.ANSWER_BYTES;
    answers = gpu.allocate(answerBytes, "answers");
    pinnedAnswers = gpu.pin(answerBytes);
    shape = CudaShape.of(model, config, blocks(gpu, opening));
    long blockBytes = CudaShape.blockBytes(model, shape.blockTokens());
    DeviceMemory kv = gpu.allocate(blockBytes * shape.blocks(), "keys and values");
    parts = new CudaForward.Parts(new Kernels(gpu), weights, shape, buffers, kv.address());
    capacity =
        new DeviceCapacity(
            opening.name,
            shape.blocks(),
            shape.blockTokens(),
            shape.stepTokensMax(),
            shape.contextMax(),
            model.vocabulary(),
            numerics(opening));
    check = new StepCheck(capacity);
  }

  /**
   * Brings the model's weights to a GPU; the file is not needed afterwards.
   *
   * @param ordinal the GPU's number, from 0
   * @param share of the GPU's memory, where the configuration does not say how much
   * @throws CudaException the GPU has not enough memory, or failed
   * @throws UnusableDevice there is too little memory for keys and values
   * @throws InvalidModelFile the model cannot run here, or its file was changed meanwhile
   */
  static CudaDevice open(
      String name, ModelFile file, GpuConfig config, int ordinal, KvShare share) {
    Gpu.Nature nature = Gpu.nature(ordinal);
    KernelImages.Image image =
        KernelImages.forGpu(nature.major(), nature.minor(), CacheFolder.ofUser());
    CudaWeightSource source = CudaWeightSource.of(file);
    return open(new Opening(name, source, config, ordinal, nature, share), image.cubin());
  }

  /**
   * @param kernels compiled for the GPU
   */
  static CudaDevice open(
      String name, ModelFile file, GpuConfig config, int ordinal, byte[] kernels) {
    return open(name, CudaWeightSource.of(file), config, ordinal, kernels);
  }

  /**
   * @param kernels compiled for the GPU
   */
  static CudaDevice open(
      String name, CudaWeightSource source, GpuConfig config, int ordinal, byte[] kernels) {
    Gpu.Nature nature = Gpu.nature(ordinal);
    return open(new Opening(name, source, config, ordinal, nature, KvShare.WHOLE), kernels);
  }

  private static CudaDevice open(Opening opening, byte[] kernels) {
    Time time = Time.system();
    long start = time.nanos();
    requireShape(opening.source.model());
    Gpu gpu = Gpu.open(opening.ordinal, kernels);
    try {
      CudaDevice device = new CudaDevice(gpu, opening, time);
      LOG.info(
          "{} is on GPU {}, {}, after {} ms, weights {}: {} Blocks of {} tokens",
          opening.name,
          opening.ordinal,
          opening.nature.name(),
          (time.nanos() - start) / 1_000_000,
          opening.config.cuda().weights().name().toLowerCase(Locale.ROOT),
          device.shape.blocks(),
          device.shape.blockTokens());
      opening.share.taken();
      return device;
    } catch (RuntimeException | Error e) {
      gpu.close();
      throw e;
    }
  }

  private static long blocks(Gpu gpu, Opening opening) {
    KvRoom room = KvRoom.on(gpu, opening.source.model(), opening.config, opening.share);
    String subject =
        "%s on GPU %d, %s: ".formatted(opening.name, opening.ordinal, opening.nature.name());
    Optional<String> shortage = room.shortage();
    if (shortage.isPresent()) {
      throw new UnusableDevice(subject + shortage.get());
    }
    room.warning().ifPresent(warning -> LOG.warn("{}{}", subject, warning));
    return room.blocks();
  }

  private static Numerics numerics(Opening opening) {
    String kernels =
        "%s-kv16-sm%d%d"
            .formatted(
                opening.config.cuda().weights().name().toLowerCase(Locale.ROOT),
                opening.nature.major(),
                opening.nature.minor());
    return new Numerics("cuda", kernels, 0, opening.source.digest());
  }

  private static void requireShape(Hyperparameters model) {
    if (!HEAD_SIZES.contains(model.headSize())
        || model.embedding() % WIDTH != 0
        || model.feedForward() % WIDTH != 0) {
      throw new UnsupportedOperationException(
          ("the cuda device needs heads of 32, 64, 96, 128 or 256 and widths that are multiples of"
                  + " %d; head size, embedding and feed-forward are %d, %d and %d")
              .formatted(WIDTH, model.headSize(), model.embedding(), model.feedForward()));
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
