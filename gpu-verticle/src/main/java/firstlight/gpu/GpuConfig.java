package firstlight.gpu;

import firstlight.protocol.Settings;
import java.time.Duration;

/**
 * How a device is set up.
 *
 * @param device which kind
 * @param kernels which arithmetic
 * @param provider who multiplies quantised matrices
 * @param threads that compute together; 0: one for each processor
 * @param kvType how keys and values are kept; exact kernels keep floats whatever this says
 * @param kvMemoryBytes for keys and values; of the cpu device
 * @param kvBlocks their number in Blocks, which goes before the bytes; 0: as the bytes say
 * @param blockTokens positions in a Block; a multiple of 16
 * @param stepTokensMax tokens in one Step
 * @param contextMax positions in one Sequence, where the model allows as many
 * @param stepTimeLimit after which a device that has not answered is taken for lost
 * @param ownerTimeout after which a replica that has been silent no longer owns the device
 * @param warmUp how long the device is exercised at most before it is announced; it ends earlier
 *     when Steps no longer get faster
 * @param cuda what concerns GPUs alone
 */
public record GpuConfig(
    DeviceKind device,
    Kernels kernels,
    Provider provider,
    int threads,
    KvType kvType,
    long kvMemoryBytes,
    int kvBlocks,
    int blockTokens,
    int stepTokensMax,
    int contextMax,
    Duration stepTimeLimit,
    Duration ownerTimeout,
    Duration warmUp,
    CudaConfig cuda) {
  private static final int BLOCK_TOKENS_MAX = 256;
  private static final int STEP_TOKENS_MAX = 1 << 14;
  private static final int CONTEXT_MAX = 1 << 20;
  private static final int THREADS_MAX = 256;
  static final int BLOCKS_MAX = 1 << 24;
  private static final long KV_BYTES_MIN = 1L << 20;

  /** Kinds of device. {@code AUTO} takes the best there is. */
  public enum DeviceKind {
    AUTO,
    CPU,
    CUDA
  }

  /** Kinds of arithmetic. */
  public enum Kernels {
    /** Weights as in the file, activations as bytes in blocks of 32. */
    Q8,
    /** Everything as floats: slow and exact, the oracle of tests. */
    FLOAT32
  }

  /** Who multiplies quantised matrices; all give the same bits. */
  public enum Provider {
    /** Native where the processor and a compiler are there. */
    AUTO,
    JAVA,
    NATIVE
  }

  /** Kinds of numbers for keys and values. */
  public enum KvType {
    F16(Short.BYTES),
    F32(Float.BYTES);

    private final int bytes;

    KvType(int bytes) {
      this.bytes = bytes;
    }

    int bytes() {
      return bytes;
    }
  }

  /** Reads the section {@code gpu}; mistakes are noted in the settings. */
  public static GpuConfig read(Settings settings) {
    GpuConfig config =
        new GpuConfig(
            settings.choice("device", DeviceKind.AUTO),
            settings.choice("kernels", Kernels.Q8),
            settings.choice("provider", Provider.AUTO),
            settings.integer("threads", 0, 0, THREADS_MAX),
            settings.choice("kvType", KvType.F16),
            settings.bytes("kvMemory", 384L << 20),
            settings.integer("kvBlocks", 0, 0, BLOCKS_MAX),
            settings.integer("blockTokens", 16, 16, BLOCK_TOKENS_MAX),
            settings.integer("stepTokensMax", 512, 1, STEP_TOKENS_MAX),
            settings.integer("contextMax", 8192, 16, CONTEXT_MAX),
            settings.duration("stepTimeLimit", Duration.ofSeconds(60)),
            settings.duration("ownerTimeout", Duration.ofSeconds(10)),
            settings.duration("warmUp", Duration.ofSeconds(10)),
            CudaConfig.read(settings.section("cuda")));
    settings.done();
    settings
        .problems()
        .require(
            config.blockTokens % 16 == 0,
            "gpu.blockTokens is %d but must be a multiple of 16".formatted(config.blockTokens));
    settings
        .problems()
        .require(config.kvMemoryBytes >= KV_BYTES_MIN, "gpu.kvMemory must be at least 1MiB");
    return config;
  }

  /** Every setting at its default. */
  public static GpuConfig defaults() {
    return read(Settings.empty());
  }
}
