package firstlight.gpu.cuda;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
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

/** Compiles the driver and the kernels. What has not changed is not compiled again. */
final class SimulatedBuild {
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

  SimulatedBuild(Path module) throws IOException {
    sources = module.resolve(SOURCES);
    kernels =
        Optional.ofNullable(System.getProperty(SimulatedDriver.KERNELS_PROPERTY))
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
    library(work.resolve(SimulatedDriver.DRIVER), objects);
    library(work.resolve(SimulatedDriver.RUNTIME), List.of(compile("runtime", "").toString()));
    for (String each : SimulatedDriver.OTHERS) {
      library(
          work.resolve(each),
          List.of("-Wl,--no-as-needed", "" + work.resolve(SimulatedDriver.DRIVER)));
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
