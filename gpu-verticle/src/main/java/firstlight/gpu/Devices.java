package firstlight.gpu;

import firstlight.gpu.cuda.CublasLt;
import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaProbe;
import firstlight.gpu.cuda.Nccl;
import firstlight.model.Model;
import firstlight.model.ModelFile;
import firstlight.protocol.Device;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What computes on a node: its GPUs where there are any, unless the configuration says otherwise,
 * else the processor. GPUs, or groups of them that share a model, are dealt out in turn, and
 * whoever is on one of them at the same time shares its memory.
 */
public final class Devices {
  private static final Logger LOG = LoggerFactory.getLogger(Devices.class);

  /** Older GPUs have no tensor cores for bf16. */
  private static final int MAJOR_MIN = 8;

  private final GpuConfig config;
  private final List<List<CudaProbe.Gpu>> groups;
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

  /**
   * @param groups of GPUs that make a device each
   */
  private Devices(GpuConfig config, List<List<CudaProbe.Gpu>> groups) {
    this.config = config;
    this.groups = groups;
    neighbours = groups.stream().map(_ -> new GpuNeighbours()).toList();
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
    return new Devices(config, groups(usable, config.cuda().tensorParallel()));
  }

  private static List<List<CudaProbe.Gpu>> groups(List<CudaProbe.Gpu> gpus, int size) {
    if (size > 1) {
      requireSharing(gpus, size);
    }
    int count = gpus.size() / size;
    if (gpus.size() % size > 0) {
      LOG.warn(
          "{} of {} GPUs are not used: {} make a device", gpus.size() % size, gpus.size(), size);
    }
    return IntStream.range(0, count).mapToObj(i -> gpus.subList(i * size, (i + 1) * size)).toList();
  }

  private static void requireSharing(List<CudaProbe.Gpu> gpus, int size) {
    String wanted = "gpu.cuda.tensorParallel is " + size;
    if (gpus.size() < size) {
      throw new NoSuchDevice(
          "%s, but there are only %d GPUs that can be used: lower it"
              .formatted(wanted, gpus.size()));
    }
    boolean isMixed =
        gpus.stream().map(gpu -> gpu.major() + "." + gpu.minor()).distinct().count() > 1;
    if (isMixed) {
      throw new NoSuchDevice(
          wanted
              + ", but the GPUs differ in compute capability: name equal ones in"
              + " CUDA_VISIBLE_DEVICES");
    }
    require(wanted, Nccl.unavailable());
  }

  /** Whoever asks for cuBLASLt is told that it is missing before any weights are read. */
  static void requireProducts(GpuConfig config, Supplier<Optional<String>> unavailable) {
    if (config.cuda().products() != CudaConfig.Products.OWN) {
      require("gpu.cuda.products is cublaslt", unavailable.get());
    }
  }

  private static void require(String wanted, Optional<String> unavailable) {
    unavailable.ifPresent(
        reason -> {
          throw new NoSuchDevice(wanted + ", but " + reason);
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

  /** Those that are dealt out, and make a device each; none: the processor computes. */
  List<List<CudaProbe.Gpu>> groups() {
    return groups;
  }

  /** How many devices a model can have that do not share one's memory and time. */
  public int count() {
    return Math.max(1, groups.size());
  }

  /** The next device, for a model. All should be dealt out before the first is opened. */
  public Dealt deal(Model model) {
    return deal(model.name(), model.file());
  }

  synchronized Dealt deal(String model, ModelFile file) {
    if (groups.isEmpty()) {
      return new Dealt(name(model, "cpu"), () -> CpuDevice.open(model, file, config, weights));
    }
    int turn = dealt++ % groups.size();
    List<CudaProbe.Gpu> group = groups.get(turn);
    GpuNeighbours on = neighbours.get(turn);
    KvShare share = on.add(CudaNeed.bytes(file, config));
    Callable<Device> opener = () -> open(model, file, group, share);
    return new Dealt(name(model, name(group)), () -> on.oneAtATime(opener));
  }

  private static String name(List<CudaProbe.Gpu> group) {
    return group.stream()
        .map(gpu -> String.valueOf(gpu.ordinal()))
        .collect(Collectors.joining("+", "gpu", ""));
  }

  private Device open(String model, ModelFile file, List<CudaProbe.Gpu> group, KvShare share) {
    List<Integer> ordinals = group.stream().map(CudaProbe.Gpu::ordinal).toList();
    List<LoadedModel.Opening> openings =
        LoadedModel.Opening.of(model, CudaWeightSource.of(file), config, ordinals, share);
    try {
      return openings.size() == 1
          ? CudaDevice.open(openings.getFirst())
          : TensorParallelDevice.open(openings, LoadedModel::load);
    } catch (CudaException e) {
      throw new UnusableDevice(model, group, e);
    }
  }

  /** A model that has one of them several times tells these apart, too. */
  private String name(String model, String device) {
    int number = names.merge(model + " " + device, 1, Integer::sum);
    return number == 1 ? device : device + "-" + number;
  }
}
