package firstlight.gpu.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A CUDA driver that runs the kernels of this module on the processor. It is built with {@code g++}
 * once for each version of its sources and of the kernels, and loaded in the place of the real
 * {@code libcuda.so.1}: whoever asks for that name afterwards gets this one. What it does and what
 * it does not is said in {@code src/test/cuda}.
 */
@SuppressWarnings("restricted")
public final class SimulatedDriver {
  /** Where other kernels than the module's are taken from: those with a planted fault. */
  public static final String KERNELS_PROPERTY = "firstlight.simulated.kernels";

  static final String DRIVER = "libcuda.so.1";
  static final String RUNTIME = "libcudart.so.13";
  private static final int ALL_DEVICES = -1;

  /** Empty: their functions are the driver's. */
  static final List<String> OTHERS = List.of(CublasLt.COMPANION, CublasLt.LIBRARY, Nccl.LIBRARY);

  private static @Nullable Path loaded;

  private SimulatedDriver() {}

  /** Why there can be no such driver here; empty: there can. */
  public static Optional<String> unavailable() {
    if (!System.getProperty("os.name").equals("Linux")
        || !System.getProperty("os.arch").equals("amd64")) {
      return Optional.of("the simulated CUDA driver needs Linux on x86-64");
    }
    try {
      SimulatedBuild.compilerVersion();
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("the simulated CUDA driver needs g++: " + e.getMessage());
    }
  }

  /** Builds the driver, if it has not been built before, and loads it into this process. */
  public static synchronized void load() {
    if (loaded != null) {
      return;
    }
    try {
      Path folder = built();
      System.load(folder.resolve(RUNTIME).toString());
      System.load(folder.resolve(DRIVER).toString());
      OTHERS.forEach(each -> System.load(folder.resolve(each).toString()));
      loaded = folder.resolve(DRIVER);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The folder with the driver's libraries, which are built where they have not been before. */
  static Path built() throws IOException {
    return new SimulatedBuild(moduleFolder()).folder();
  }

  /** Another legal order of threads and blocks for every seed; 0 is the natural one. */
  public static void order(int seed) {
    Functions.call(Functions.ORDER, seed);
  }

  /** On how many threads of the host kernels run at most; 0 is one for each processor. */
  public static void threads(int threads) {
    Functions.call(Functions.THREADS, threads);
  }

  /** How many devices there are, up to 8. */
  public static void devices(int devices) {
    Functions.call(Functions.DEVICES, devices);
  }

  /** The memory of each device. */
  public static void memory(long bytes) {
    Functions.call(Functions.MEMORY, bytes);
  }

  /**
   * Lets a later call fail, once. With 700, 719 and 999 it is a launch, with 2 an allocation, with
   * other results any call. All but 2 stick to the context.
   *
   * @param result a CUresult; 0: no call fails
   * @param after 1 is the next such call
   */
  public static void inject(int result, long after) {
    Functions.call(Functions.INJECT, result, after);
  }

  /** Kernels and graphs that the host has launched. */
  public static long launches() {
    return (long) Functions.call(Functions.LAUNCHES);
  }

  /** Allocations on devices, also those that have been freed. */
  public static long allocations() {
    return (long) Functions.call(Functions.ALLOCATIONS);
  }

  /** Bytes that are allocated on devices now. */
  public static long liveBytes() {
    return liveBytes(ALL_DEVICES);
  }

  /** The same on one device. */
  public static long liveBytes(int device) {
    return (long) Functions.call(Functions.LIVE_BYTES, device);
  }

  /** Calls with which the host waited, synchronous copies among them. */
  public static long synchronizations() {
    return (long) Functions.call(Functions.SYNCHRONIZATIONS);
  }

  /** Order, faults, devices, memory and counters as they were in the beginning. */
  public static void reset() {
    Functions.call(Functions.RESET);
  }

  /** Tests run in the module's folder, or in one beside it. */
  static Path moduleFolder() throws IOException {
    for (String each : List.of("", "gpu-verticle", "../gpu-verticle")) {
      Path folder = Path.of(each).toAbsolutePath().normalize();
      if (Files.isDirectory(folder.resolve(SimulatedBuild.SOURCES))) {
        return folder;
      }
    }
    throw new IOException("no " + SimulatedBuild.SOURCES + " near " + Path.of("").toAbsolutePath());
  }

  /** What tests ask of the driver beside CUDA's own calls, by name. */
  private static final class Functions {
    static final String ORDER = "sim_set_order";
    static final String THREADS = "sim_set_threads";
    static final String DEVICES = "sim_set_devices";
    static final String MEMORY = "sim_set_memory";
    static final String INJECT = "sim_inject";
    static final String LAUNCHES = "sim_launches";
    static final String ALLOCATIONS = "sim_allocations";
    static final String LIVE_BYTES = "sim_live_bytes";
    static final String SYNCHRONIZATIONS = "sim_synchronizations";
    static final String RESET = "sim_reset";

    private static final Map<String, FunctionDescriptor> TYPES =
        Map.of(
            ORDER, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT),
            THREADS, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT),
            DEVICES, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT),
            MEMORY, FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG),
            INJECT, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
            LAUNCHES, FunctionDescriptor.of(ValueLayout.JAVA_LONG),
            ALLOCATIONS, FunctionDescriptor.of(ValueLayout.JAVA_LONG),
            LIVE_BYTES, FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT),
            SYNCHRONIZATIONS, FunctionDescriptor.of(ValueLayout.JAVA_LONG),
            RESET, FunctionDescriptor.ofVoid());

    static Object call(String name, Object... arguments) {
      load();
      try {
        return Linker.nativeLinker()
            .downcallHandle(
                SymbolLookup.libraryLookup(loaded, Arena.global()).findOrThrow(name),
                TYPES.get(name))
            .invokeWithArguments(arguments);
      } catch (Throwable e) {
        throw new IllegalStateException(name, e);
      }
    }
  }
}
