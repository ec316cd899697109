package firstlight.gpu;

import java.time.Duration;

/** Devices as tests need them: small, so that they are made quickly. */
final class TestDevices {
  private TestDevices() {}

  static GpuConfig config(GpuConfig.Kernels kernels) {
    return config(kernels, 2, 16);
  }

  static GpuConfig config(GpuConfig.Kernels kernels, int threads, int blockTokens) {
    return new GpuConfig(
        GpuConfig.DeviceKind.CPU,
        kernels,
        GpuConfig.Provider.JAVA,
        threads,
        GpuConfig.KvType.F16,
        0,
        1024 / blockTokens,
        blockTokens,
        512,
        512,
        Duration.ofSeconds(60),
        Duration.ofSeconds(10),
        Duration.ZERO,
        new CudaConfig(CudaConfig.Weights.FILE, 0, true));
  }

  /** The same for longer Steps. */
  static GpuConfig larger(GpuConfig config, int stepTokensMax) {
    return changed(config, config.provider(), stepTokensMax, config.cuda());
  }

  /** The same on GPUs. */
  static GpuConfig on(GpuConfig config, CudaConfig cuda) {
    return changed(config, config.provider(), config.stepTokensMax(), cuda);
  }

  /** The same with those kernels. */
  static GpuConfig provided(GpuConfig config, GpuConfig.Provider provider) {
    return changed(config, provider, config.stepTokensMax(), config.cuda());
  }

  private static GpuConfig changed(
      GpuConfig config, GpuConfig.Provider provider, int stepTokensMax, CudaConfig cuda) {
    return new GpuConfig(
        config.device(),
        config.kernels(),
        provider,
        config.threads(),
        config.kvType(),
        config.kvMemoryBytes(),
        config.kvBlocks(),
        config.blockTokens(),
        stepTokensMax,
        config.contextMax(),
        config.stepTimeLimit(),
        config.ownerTimeout(),
        config.warmUp(),
        cuda);
  }
}
