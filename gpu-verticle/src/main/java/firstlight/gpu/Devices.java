package firstlight.gpu;

import firstlight.gpu.cuda.CublasLt;
import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaProbe;
import firstlight.model.Model;
import firstlight.protocol.Device;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What computes on a node: its GPUs where there are any, unless the configuration says otherwise,
 * else the processor. GPUs are dealt out in turn.
 */
public final class Devices {
  private static final Logger LOG = LoggerFactory.getLogger(Devices.class);

  /** Older GPUs have no tensor cores for bf16. */
  private static final int MAJOR_MIN = 8;

  private final GpuConfig config;
  private final List<CudaProbe.Gpu> gpus;
  private final AtomicInteger opened = new AtomicInteger();
  private final WeightStore weights = new WeightStore();

  private Devices(GpuConfig config, List<CudaProbe.Gpu> gpus) {
    this.config = config;
    this.gpus = gpus;
  }

  /**
   * Looks what there is.
   *
   * @throws NoSuchDevice the configuration wants GPUs, and there are none, or there is not what it
   *     wants to use on them
   */
  public static Devices of(GpuConfig config) {
    if (config.device() == GpuConfig.DeviceKind.CPU) {
      return none(config);
    }
    return switch (CudaProbe.probe()) {
      case CudaProbe.Found(List<CudaProbe.Gpu> gpus, int _) -> found(config, gpus);
      case CudaProbe.Absent(String reason) -> absent(config, reason);
    };
  }

  static Devices found(GpuConfig config, List<CudaProbe.Gpu> gpus) {
    List<CudaProbe.Gpu> usable = gpus.stream().filter(gpu -> gpu.major() >= MAJOR_MIN).toList();
    if (usable.isEmpty()) {
      return absent(
          config,
          "GPU 0, %s, has compute capability %d.%d; %d.0 is needed"
              .formatted(
                  gpus.getFirst().name(),
                  gpus.getFirst().major(),
                  gpus.getFirst().minor(),
                  MAJOR_MIN));
    }
    requireProducts(config, CublasLt::unavailable);
    return new Devices(config, usable);
  }

  /** Whoever asks for cuBLASLt is told that it is missing before any weights are read. */
  static void requireProducts(GpuConfig config, Supplier<Optional<String>> unavailable) {
    if (config.cuda().products() == CudaConfig.Products.OWN) {
      return;
    }
    unavailable
        .get()
        .ifPresent(
            reason -> {
              throw new NoSuchDevice("gpu.cuda.products is cublaslt, but " + reason);
            });
  }

  private static Devices absent(GpuConfig config, String reason) {
    if (config.device() == GpuConfig.DeviceKind.CUDA) {
      throw new NoSuchDevice("the cuda device can not be used: " + reason);
    }
    LOG.info("the cpu device is used: {}", reason);
    return none(config);
  }

  /** The processor, whatever there is: for nodes that open no device. */
  public static Devices none(GpuConfig config) {
    return new Devices(config, List.of());
  }

  /** Those that are dealt out; none: the processor computes. */
  List<CudaProbe.Gpu> gpus() {
    return gpus;
  }

  /** Opens a device for a model, and the same device whenever it is called again. */
  public Callable<Device> opener(Model model) {
    if (gpus.isEmpty()) {
      return () -> CpuDevice.open(model, config, weights);
    }
    CudaProbe.Gpu gpu = gpus.get(opened.getAndIncrement() % gpus.size());
    return () -> {
      try {
        return CudaDevice.open(model, config, gpu.ordinal());
      } catch (CudaException e) {
        throw new UnusableDevice(model.name(), gpu, e);
      }
    };
  }
}
