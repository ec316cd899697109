package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaProbe;
import firstlight.model.Model;
import firstlight.model.ModelFile;
import firstlight.protocol.Device;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What computes on a node: its GPUs where there are any, unless the configuration says otherwise,
 * else the processor. GPUs are dealt out in turn, and whoever is on one of them at the same time
 * shares its memory.
 */
public final class Devices {
  private static final Logger LOG = LoggerFactory.getLogger(Devices.class);

  /** Older GPUs have no tensor cores for bf16. */
  private static final int MAJOR_MIN = 8;

  private final GpuConfig config;
  private final List<CudaProbe.Gpu> gpus;
  private final List<GpuNeighbours> neighbours;
  private final Map<String, Integer> names = new HashMap<>();
  private final WeightStore weights = new WeightStore();
  private int dealt;

  /**
   * A device that a verticle may open.
   *
   * @param name tells it from the node's other devices of the model: {@code gpu0}
   * @param opener opens the device, and the same device whenever it is called again
   */
  public record Dealt(String name, Callable<? extends Device> opener) {}

  private Devices(GpuConfig config, List<CudaProbe.Gpu> gpus) {
    this.config = config;
    this.gpus = gpus;
    neighbours = gpus.stream().map(_ -> new GpuNeighbours()).toList();
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
      case CudaProbe.Found(List<CudaProbe.Gpu> gpus, int _) -> found(config, gpus);
      case CudaProbe.Absent(String reason) -> absent(config, reason);
    };
  }

  static Devices found(GpuConfig config, List<CudaProbe.Gpu> gpus) {
    List<CudaProbe.Gpu> usable = gpus.stream().filter(gpu -> gpu.major() >= MAJOR_MIN).toList();
    return usable.isEmpty()
        ? absent(
            config,
            "GPU 0, %s, has compute capability %d.%d; %d.0 is needed"
                .formatted(
                    gpus.getFirst().name(),
                    gpus.getFirst().major(),
                    gpus.getFirst().minor(),
                    MAJOR_MIN))
        : new Devices(config, usable);
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

  /** How many devices a model can have that do not share one's memory and time. */
  public int count() {
    return Math.max(1, gpus.size());
  }

  /** The next device, for a model. All should be dealt out before the first is opened. */
  public Dealt deal(Model model) {
    return deal(model.name(), model.file());
  }

  synchronized Dealt deal(String model, ModelFile file) {
    if (gpus.isEmpty()) {
      return new Dealt(name(model, "cpu"), () -> CpuDevice.open(model, file, config, weights));
    }
    int turn = dealt++ % gpus.size();
    CudaProbe.Gpu gpu = gpus.get(turn);
    GpuNeighbours on = neighbours.get(turn);
    KvShare share = on.add(CudaNeed.bytes(file, config));
    Callable<Device> opener = () -> open(model, file, gpu, share);
    return new Dealt(name(model, "gpu" + gpu.ordinal()), () -> on.oneAtATime(opener));
  }

  private Device open(String model, ModelFile file, CudaProbe.Gpu gpu, KvShare share) {
    try {
      return CudaDevice.open(model, file, config, gpu.ordinal(), share);
    } catch (CudaException e) {
      throw new UnusableDevice(model, gpu, e);
    }
  }

  /** A model that has one of them several times tells these apart, too. */
  private String name(String model, String device) {
    int number = names.merge(model + " " + device, 1, Integer::sum);
    return number == 1 ? device : device + "-" + number;
  }
}
