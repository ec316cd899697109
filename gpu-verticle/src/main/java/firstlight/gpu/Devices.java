package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaProbe;
import firstlight.model.Model;
import firstlight.protocol.Device;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What computes on a node: its GPUs where there are any, unless the configuration says otherwise,
 * else the processor. GPUs are dealt out in turn.
 */
public final class Devices {
  private static final Logger LOG = LoggerFactory.getLogger(Devices.class);

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
   * @throws NoSuchDevice the configuration wants GPUs, and there are none
   */
  public static Devices of(GpuConfig config) {
    if (config.device() == GpuConfig.DeviceKind.CPU) {
      return none(config);
    }
    return switch (CudaProbe.probe()) {
      case CudaProbe.Found(List<CudaProbe.Gpu> gpus, int _) -> new Devices(config, gpus);
      case CudaProbe.Absent(String reason) -> {
        if (config.device() == GpuConfig.DeviceKind.CUDA) {
          throw new NoSuchDevice("the cuda device can not be used: " + reason);
        }
        LOG.info("the cpu device is used: {}", reason);
        yield none(config);
      }
    };
  }

  /** The processor, whatever there is: for nodes that open no device. */
  public static Devices none(GpuConfig config) {
    return new Devices(config, List.of());
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
