package firstlight.gpu.cuda;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

  private static final String DRIVER = "libcuda.so.1";
  private static final String RUNTIME = "libcudart.so.13";
  private static final List<String> CUBLAS = List.of(CublasLt.COMPANION, CublasLt.LIBRARY);
  private static @Nullable Path loaded;

  private SimulatedDriver() {}

  /** Why there can be no such driver here; empty: there can. */
  public static Optional<String> unavailable() {
    if (!System.getProperty("os.name").equals("Linux")
        || !System.getProperty("os.arch").equals("amd64")) {
      return Optional.of("the simulated CUDA driver needs Linux on x86-64");
    }
    try {
      Build.compilerVersion();
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
      CUBLAS.forEach(each -> System.load(folder.resolve(each).toString()));
      loaded = folder.resolve(DRIVER);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The folder with the driver's libraries, which are built where they have not been before. */
  static Path built() throws IOException {
    return new Build(moduleFolder()).folder();
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
    return (long) Functions.call(Functions.LIVE_BYTES);
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
      if (Files.isDirectory(folder.resolve(Build.SOURCES))) {
        return folder;
      }
    }
    throw new IOException("no " + Build.SOURCES + " near " + Path.of("").toAbsolutePath());
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
            LIVE_BYTES, FunctionDescriptor.of(ValueLayout.JAVA_LONG),
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

  /** Compiles the driver and the kernels. What has not changed is not compiled again. */
  static final class Build {
    static final String SOURCES = "src/test/cuda";
    private static final String KERNELS = "src/main/resources/firstlight/gpu/cuda";
    private static final String SYMBOLS = "simulated_symbols.txt";
    private static final Path PROCESSOR = Path.of("/proc/cpuinfo");
    private static final long SECONDS_MAX = 300;
    private static final Pattern KERNEL =
        Pattern.compile("extern\\s*\"C\"\\s*__global__\\s+void\\s+(\\w+)\\s*\\(");
    private static final List<String> FLAGS =
        List.of(
            "-std=c++20",
            "-O2",
            "-march=native",
            "-ffp-contract=off",
            "-fPIC",
            "-fvisibility=hidden",
            "-DFIRSTLIGHT_SIMULATED");

    /** The processor never minds misaligned addresses, a device does. */
    private static final List<String> KERNEL_FLAGS =
        List.of(
            "-fno-exceptions",
            "-Wno-unknown-pragmas",
            "-fsanitize=alignment,bounds",
            "-fsanitize-undefined-trap-on-error");

    private final Path sources;
    private final Path kernels;
    private final Path target;
    private final String environment;

    Build(Path module) throws IOException {
      sources = module.resolve(SOURCES);
      kernels =
          Optional.ofNullable(System.getProperty(KERNELS_PROPERTY))
              .map(Path::of)
              .orElse(module.resolve(KERNELS));
      target = module.resolve("target/simulated");
      environment = compilerVersion() + processor() + FLAGS + KERNEL_FLAGS + texts(sources, ".h");
      Files.createDirectories(target);
    }

    static String compilerVersion() throws IOException {
      return run(List.of("g++", "--version"));
    }

    /** The folder with the libraries. */
    Path folder() throws IOException {
      List<Callable<Path>> compiles = new ArrayList<>();
      for (Path source : files(sources, ".cpp")) {
        compiles.add(() -> compile(source.getFileName().toString(), Files.readString(source)));
      }
      for (Path kernel : files(kernels, ".cu")) {
        compiles.add(() -> compileKernels(kernel));
      }
      compiles.add(() -> compile("symbols", symbols()));
      List<String> objects = inParallel(compiles).stream().map(Path::toString).sorted().toList();
      Path folder = target.resolve(digest(objects.toString()));
      return Files.isDirectory(folder) ? folder : link(objects, folder);
    }

    private Path link(List<String> objects, Path folder) throws IOException {
      Path work = Files.createTempDirectory(target, "build");
      library(work.resolve(DRIVER), objects);
      library(work.resolve(RUNTIME), List.of(compile("runtime", "").toString()));
      for (String each : CUBLAS) { // their functions are in the driver, too
        library(work.resolve(each), List.of("-Wl,--no-as-needed", "" + work.resolve(DRIVER)));
      }
      try {
        return Files.move(work, folder, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        if (!Files.isDirectory(folder)) {
          throw e;
        }
        return folder; // somebody else has built the same
      }
    }

    private static void library(Path made, List<String> objects) throws IOException {
      List<String> command = new ArrayList<>(List.of("g++", "-shared", "-o", made.toString()));
      command.add("-Wl,-z,nodelete,-soname," + made.getFileName());
      command.addAll(objects);
      run(command);
    }

    /** A kernel's parameters are known only where it is declared, so its source is included. */
    private Path compileKernels(Path source) throws IOException {
      List<String> listing =
          command(List.of("-DSIMULATED_LIST", "-E", "-P", "-x", "c++", source.toString()));
      String include = "#include \"" + source + "\"\n";
      String registrations =
          KERNEL
              .matcher(run(listing))
              .results()
              .map((MatchResult kernel) -> kernel.group(1))
              .distinct()
              .map(name -> "SIMULATED_KERNEL(" + name + ")\n")
              .collect(Collectors.joining());
      String version = "// " + digest(Files.readString(source) + texts(kernels, ".cuh")) + "\n";
      return compile(source.getFileName().toString(), version + include + registrations);
    }

    /** Functions that nobody else defines say that they are not supported. */
    private String symbols() throws IOException {
      try (Stream<String> names = Files.lines(sources.resolve(SYMBOLS))) {
        return names
            .map(
                name ->
                    "extern \"C\" __attribute__((weak, visibility(\"default\"))) int "
                        + name
                        + "() { return 801; }\n")
            .collect(Collectors.joining());
      }
    }

    /** The object of a source, which may have been compiled before. */
    private Path compile(String name, String source) throws IOException {
      Path object = target.resolve(name + "-" + digest(environment + source) + ".o");
      if (Files.exists(object)) {
        return object;
      }
      Path code = Files.createTempFile(target, name, ".cpp");
      Path made = Files.createTempFile(target, name, ".o");
      Files.writeString(code, source);
      boolean kernel = name.endsWith(".cu");
      List<String> command = command(kernel ? KERNEL_FLAGS : List.of());
      command.addAll(List.of("-c", "-o", made.toString(), code.toString()));
      run(command);
      Files.delete(code);
      return Files.move(made, object, StandardCopyOption.ATOMIC_MOVE);
    }

    private List<String> command(List<String> more) {
      List<String> command = new ArrayList<>(List.of("g++", "-I", sources.toString()));
      command.addAll(FLAGS);
      command.addAll(more);
      return command;
    }

    private static <T> List<T> inParallel(List<Callable<T>> tasks) throws IOException {
      int threads = Runtime.getRuntime().availableProcessors();
      try (var executor = Executors.newFixedThreadPool(threads)) {
        List<T> results = new ArrayList<>();
        for (Future<T> each : executor.invokeAll(tasks)) {
          results.add(each.get());
        }
        return results;
      } catch (ExecutionException e) {
        throw new IOException(e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      }
    }

    /** What the command says. */
    private static String run(List<String> command) throws IOException {
      Path said = Files.createTempFile("simulated", ".txt");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
          process.destroyForcibly().waitFor();
          throw new IOException("after " + SECONDS_MAX + " s still runs " + command);
        }
        String text = Files.readString(said, StandardCharsets.ISO_8859_1);
        if (process.exitValue() != 0) {
          throw new IOException(String.join(" ", command) + "\n" + text);
        }
        return text;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      } finally {
        Files.delete(said);
      }
    }

    /** What the processor can do: a line of names. */
    private static String processor() throws IOException {
      try (Stream<String> lines = Files.lines(PROCESSOR, StandardCharsets.ISO_8859_1)) {
        return lines.filter(line -> line.startsWith("flags")).findFirst().orElse("");
      }
    }

    private static String texts(Path folder, String ending) throws IOException {
      StringBuilder text = new StringBuilder();
      for (Path file : files(folder, ending)) {
        text.append(Files.readString(file));
      }
      return text.toString();
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
      if (!Files.isDirectory(folder)) {
        return List.of();
      }
      try (Stream<Path> files = Files.list(folder)) {
        return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
      }
    }

    private static String digest(String text) {
      return Sha256.hex(text).substring(0, 24);
    }
  }
}
