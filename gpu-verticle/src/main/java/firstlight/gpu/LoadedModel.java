package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.KernelImages;
import firstlight.gpu.cuda.Nccl;
import firstlight.model.CacheFolder;
import firstlight.model.Hyperparameters;
import firstlight.model.InvalidModelFile;
import firstlight.protocol.Time;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model on a GPU, all of it or a share, with everything but the memory for keys and values, whose
 * size goes by what is left. It becomes a device, or is closed.
 *
 * @param gpu this thread's
 * @param startNanos when the opening began
 */
record LoadedModel(
    Gpu gpu,
    Gpu.Nature nature,
    Opening opening,
    CudaWeights weights,
    CudaProducts products,
    CudaWorkspace workspace,
    long startNanos)
    implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LoadedModel.class);
  private static final int WIDTH = 32;

  /** What the attention kernels are made for. */
  private static final Set<Integer> HEAD_SIZES = Set.of(32, 64, 96, 128, 256);

  /**
   * What is opened, and where.
   *
   * @param ordinal the GPU's number, from 0
   * @param shard what the GPU takes of it
   * @param kvShare of the GPU's memory, where the configuration does not say how much
   */
  record Opening(
      String name,
      CudaWeightSource source,
      GpuConfig config,
      int ordinal,
      Shard shard,
      KvShare kvShare,
      Time time) {
    /** The whole model. */
    Opening(String name, CudaWeightSource source, GpuConfig config, int ordinal) {
      this(name, source, config, ordinal, Shard.WHOLE, KvShare.WHOLE, Time.system());
    }

    /**
     * Of a model for GPUs that share it; one has all.
     *
     * @param ordinals the GPUs' numbers; the first one makes the tokens
     */
    static List<Opening> of(
        String name,
        CudaWeightSource source,
        GpuConfig config,
        List<Integer> ordinals,
        KvShare kvShare) {
      int count = ordinals.size();
      return IntStream.range(0, count)
          .mapToObj(
              rank ->
                  new Opening(
                      name,
                      source,
                      config,
                      ordinals.get(rank),
                      new Shard(rank, count),
                      kvShare,
                      Time.system()))
          .toList();
    }

    /** The model as the GPU computes it. */
    Hyperparameters model() {
      return shard.of(source.model());
    }
  }

  /**
   * Brings weights to a GPU, for this thread; the file is not needed afterwards.
   *
   * @throws CudaException the GPU has not enough memory, or failed
   * @throws InvalidModelFile the model can not run here, or its file was changed meanwhile
   */
  static LoadedModel load(Opening opening) {
    Gpu.Nature nature = Gpu.nature(opening.ordinal);
    KernelImages.Image image =
        KernelImages.forGpu(nature.major(), nature.minor(), CacheFolder.ofUser());
    return load(opening, nature, image.cubin());
  }

  /**
   * @param kernels compiled for the GPU
   */
  static LoadedModel load(Opening opening, byte[] kernels) {
    return load(opening, Gpu.nature(opening.ordinal), kernels);
  }

  private static LoadedModel load(Opening opening, Gpu.Nature nature, byte[] kernels) {
    long start = opening.time.nanos();
    requireShape(opening.model());
    Gpu gpu = Gpu.open(opening.ordinal, kernels);
    try {
      int positions = CudaShape.contextMax(opening.model(), opening.config);
      CudaWeights weights =
          opening.source.bring(gpu, opening.config.cuda().weights(), positions, opening.shard);
      CudaProducts products =
          CudaProducts.of(gpu, opening.config.cuda(), weights, opening.config.stepTokensMax());
      CudaWorkspace workspace =
          CudaWorkspace.of(gpu, weights.model(), opening.config, !opening.shard.isWhole());
      return new LoadedModel(gpu, nature, opening, weights, products, workspace, start);
    } catch (RuntimeException | Error e) {
      gpu.close();
      throw e;
    }
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

  /**
   * Blocks that are asked for, or that there is room for.
   *
   * @throws UnusableDevice they are too few
   */
  long blocks() {
    KvRoom room = KvRoom.on(gpu, weights.model(), opening.config, opening.kvShare);
    String subject = "%s on GPU %d, %s: ".formatted(opening.name, opening.ordinal, nature.name());
    Optional<String> shortage = room.shortage();
    if (shortage.isPresent()) {
      throw new UnusableDevice(subject + shortage.get());
    }
    room.warning().ifPresent(warning -> LOG.warn("{}{}", subject, warning));
    return room.blocks();
  }

  /**
   * Makes room for Sequences. The GPU is the device's afterwards, and given back where there is no
   * room.
   *
   * @param blocks of KV memory
   * @param nccl which connects it with those that have the other shares
   */
  CudaDevice device(long blocks, Optional<Nccl> nccl) {
    try {
      CudaDevice device = new CudaDevice(this, blocks, nccl);
      LOG.info(
          "{}{} is on GPU {}, {}, after {} ms, weights {}: {} Blocks of {} tokens",
          opening.name,
          opening.shard.isWhole()
              ? ""
              : " (share %d of %d)".formatted(opening.shard.rank() + 1, opening.shard.count()),
          opening.ordinal,
          nature.name(),
          (opening.time.nanos() - startNanos) / 1_000_000,
          opening.config.cuda().weights().name().toLowerCase(Locale.ROOT),
          device.capacity().blocks(),
          device.capacity().blockTokens());
      opening.kvShare.taken();
      return device;
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  @Override
  public void close() {
    gpu.close();
  }
}
