package firstlight.gpu.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether this machine has a CUDA driver that can be used, and which GPUs.
 *
 * <p>Without a driver the first touch of JavaCPP's classes fails and breaks them for good. So they
 * may be touched only after this has found one, and this asks the driver without them.
 */
public final class CudaProbe {
  /** What was found. */
  public sealed interface Result permits Found, Absent {}

  /**
   * There is a driver that can be used.
   *
   * @param gpus one at least
   * @param driverVersion the newest CUDA it is for: 13000 is 13.0
   */
  public record Found(List<Gpu> gpus, int driverVersion) implements Result {
    public Found {
      gpus = List.copyOf(gpus);
      if (gpus.isEmpty()) {
        throw new IllegalArgumentException("a GPU at least");
      }
    }
  }

  /**
   * There is none.
   *
   * @param reason why, and what to do: a line for an operator
   */
  public record Absent(String reason) implements Result {}

  /**
   * A GPU.
   *
   * @param ordinal its number in CUDA
   * @param major of its compute capability: 9 of 9.0
   * @param minor of its compute capability: 0 of 9.0
   */
  public record Gpu(int ordinal, String name, int major, int minor, long memoryBytes) {}

  static final String DRIVER = "libcuda.so.1";
  static final String RUNTIME = "libcudart.so.13";

  private static final int VERSION_MIN = 13_000;
  private static final int GPUS_MAX = 64;
  private static final int NAME_BYTES_MAX = 256;
  private static final int ATTRIBUTE_MAJOR = 75;
  private static final int ATTRIBUTE_MINOR = 76;

  private static final int STUB_LIBRARY = 34;
  private static final int NO_DEVICE = 100;
  private static final int SYSTEM_NOT_READY = 802;
  private static final int SYSTEM_DRIVER_MISMATCH = 803;

  private CudaProbe() {}

  /** The driver is asked once in a process, since it keeps its answer as long as that runs. */
  private static final class Once {
    static final Result RESULT = ask(DRIVER, RUNTIME);
  }

  /** Never throws. Only the first call takes time. */
  public static Result probe() {
    return Once.RESULT;
  }

  /**
   * Asks anew.
   *
   * @param driver the driver's library, a name or a path
   * @param runtime the CUDA runtime's library, without which JavaCPP's classes do not load
   */
  static Result ask(String driver, String runtime) {
    try {
      Optional<ForeignLibrary> library = ForeignLibrary.open(driver);
      if (library.isEmpty()) {
        return new Absent("there is no NVIDIA driver here: " + driver + " was not found");
      }
      Result result = ask(library.get());
      if (result instanceof Found && ForeignLibrary.open(runtime).isEmpty()) {
        return new Absent(
            runtime + " was not found: install the CUDA 13 runtime, or put it on LD_LIBRARY_PATH");
      }
      return result;
    } catch (RuntimeException | LinkageError e) {
      return new Absent("the NVIDIA driver could not be asked: " + oneLine(e.toString()));
    }
  }

  private static Result ask(ForeignLibrary driver) {
    int status = driver.call("cuInit", 0);
    if (status != 0) {
      return new Absent(initFailure(driver, status));
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment number = arena.allocate(JAVA_INT);
      check(driver, "cuDriverGetVersion", number);
      int version = number.get(JAVA_INT, 0);
      if (version < VERSION_MIN) {
        return new Absent(
            "the driver is for CUDA %d.%d; CUDA 13.0 is needed: update the driver to 580 or newer"
                .formatted(version / 1000, version % 1000 / 10));
      }
      check(driver, "cuDeviceGetCount", number);
      int count = number.get(JAVA_INT, 0);
      if (count <= 0) {
        return new Absent(noGpu("it counts " + count));
      }
      List<Gpu> gpus = new ArrayList<>();
      for (int ordinal = 0; ordinal < Math.min(count, GPUS_MAX); ordinal++) {
        gpus.add(gpu(driver, ordinal, arena));
      }
      return new Found(gpus, version);
    }
  }

  private static Gpu gpu(ForeignLibrary driver, int ordinal, Arena arena) {
    MemorySegment number = arena.allocate(JAVA_INT);
    check(driver, "cuDeviceGet", number, ordinal);
    int device = number.get(JAVA_INT, 0);
    MemorySegment name = arena.allocate(NAME_BYTES_MAX);
    check(driver, "cuDeviceGetName", name, NAME_BYTES_MAX, device);
    MemorySegment bytes = arena.allocate(JAVA_LONG);
    check(driver, "cuDeviceTotalMem_v2", bytes, device);
    check(driver, "cuDeviceGetAttribute", number, ATTRIBUTE_MAJOR, device);
    int major = number.get(JAVA_INT, 0);
    check(driver, "cuDeviceGetAttribute", number, ATTRIBUTE_MINOR, device);
    int minor = number.get(JAVA_INT, 0);
    return new Gpu(
        ordinal,
        oneLine(ForeignLibrary.text(name, NAME_BYTES_MAX)),
        major,
        minor,
        bytes.get(JAVA_LONG, 0));
  }

  private static void check(ForeignLibrary driver, String function, Object... arguments) {
    int status = driver.call(function, arguments);
    if (status != 0) {
      throw new IllegalStateException(function + " says " + name(driver, status));
    }
  }

  private static String initFailure(ForeignLibrary driver, int status) {
    String name = name(driver, status);
    return switch (status) {
      case NO_DEVICE -> noGpu(name);
      case STUB_LIBRARY ->
          "%s is the CUDA toolkit's stub, not a driver (%s): take its folder off LD_LIBRARY_PATH"
              .formatted(DRIVER, name);
      case SYSTEM_NOT_READY ->
          "the NVIDIA driver is not ready (%s): start nvidia-fabricmanager".formatted(name);
      case SYSTEM_DRIVER_MISMATCH ->
          "the NVIDIA driver's library and kernel module differ (%s): restart the machine"
              .formatted(name);
      default -> "the NVIDIA driver does not start (%s): see nvidia-smi".formatted(name);
    };
  }

  private static String noGpu(String detail) {
    return "the NVIDIA driver finds no GPU (%s): look at nvidia-smi and at CUDA_VISIBLE_DEVICES"
        .formatted(detail);
  }

  /** An error's name and number, e.g. CUDA_ERROR_NO_DEVICE 100. */
  private static String name(ForeignLibrary driver, int status) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(ADDRESS);
      boolean known = driver.call("cuGetErrorName", status, name) == 0;
      String text = known ? oneLine(ForeignLibrary.text(name.get(ADDRESS, 0), NAME_BYTES_MAX)) : "";
      return (text.isEmpty() ? "CUDA error" : text) + " " + status;
    }
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\p{Cntrl}+", " ").strip();
  }
}
