package firstlight.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Builds llama.cpp for this processor from the source package of {@code llama-cpp-python}, which
 * carries its whole tree. Each step is left out when it was done before.
 *
 * @param folder takes sources, tools and programs; about 500 MB
 */
record PeerBuild(Path folder, Progress progress) {
  static final String PACKAGE = "llama-cpp-python";
  static final String VERSION = "0.3.36";

  /** Of Ninja: {@code [12/228] Building …}. */
  private static final Pattern STEP = Pattern.compile("\\[(\\d+)/(\\d+)] .*");

  private static final int TOLD_EVERY = 20;

  private static final String TILE_LOAD = "_tile_loadconfig(&tc);";
  private static final String TILE_BARRIER = "__asm__ volatile(\"\" : : \"r\"(&tc) : \"memory\"); ";

  Peer peer() {
    Path programs = folder.resolve("build-" + VERSION).resolve("bin");
    if (Peer.PROGRAMS.stream().allMatch(name -> Files.isExecutable(programs.resolve(name)))) {
      return Peer.in(programs);
    }
    requireCompiler();
    progress.say("building llama.cpp in %s: about ten minutes of a processor, once", folder);
    Path python = tools();
    Path sources = sources(python);
    configure(python.resolveSibling("cmake"), python.resolveSibling("ninja"), sources);
    compile(python.resolveSibling("cmake"));
    return Peer.in(programs);
  }

  private static void requireCompiler() {
    for (String tool : List.of("g++", "python3")) {
      try {
        if (new ProcessBuilder(tool, "--version")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor()
            == 0) {
          continue;
        }
      } catch (IOException _) {
        // It is not there: said below.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new BenchFailure(
          "llama.cpp can not be built: there is no %s. Install it, or take --peer packaged for the"
                  .formatted(tool)
              + " benchmarks of servers.");
    }
  }

  /** The Python of a virtual environment that has CMake and Ninja. */
  private Path tools() {
    Path environment = folder.resolve("tools");
    Path python = environment.resolve("bin/python");
    if (!Files.isExecutable(environment.resolve("bin/ninja"))) {
      progress.say("getting CMake and Ninja");
      run(List.of("python3", "-m", "venv", environment.toString()));
      run(
          List.of(
              python.toString(),
              "-m",
              "pip",
              "install",
              "--disable-pip-version-check",
              "-q",
              "cmake",
              "ninja"));
    }
    return python;
  }

  private Path sources(Path python) {
    Path tree = folder.resolve("llama_cpp_python-" + VERSION).resolve("vendor/llama.cpp");
    if (!Files.isRegularFile(tree.resolve("CMakeLists.txt"))) {
      progress.say("getting the sources: %s %s", PACKAGE, VERSION);
      run(
          List.of(
              python.toString(),
              "-m",
              "pip",
              "download",
              "--disable-pip-version-check",
              "-q",
              "--no-deps",
              "--no-binary",
              PACKAGE,
              "-d",
              folder.toString(),
              PACKAGE + "==" + VERSION));
      run(List.of("tar", "-xzf", archive().toString(), "-C", folder.toString()));
    }
    keepTileConfiguration(tree.resolve("ggml/src/ggml-cpu/amx/mmq.cpp"));
    return tree;
  }

  /**
   * GCC before 13 does not know that loading a configuration of AMX tiles reads it, and leaves out
   * what fills it in: on a processor with AMX the peer would end with an illegal instruction.
   */
  private void keepTileConfiguration(Path source) {
    try {
      String text = Files.readString(source);
      if (!text.contains(TILE_BARRIER)) {
        Files.writeString(source, text.replace(TILE_LOAD, TILE_BARRIER + TILE_LOAD));
      }
    } catch (IOException e) {
      throw new BenchFailure("%s can not be changed: %s".formatted(source, e.getMessage()), e);
    }
  }

  private Path archive() {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().endsWith(VERSION + ".tar.gz"))
          .findFirst()
          .orElseThrow(() -> new BenchFailure("pip brought no sources of " + PACKAGE));
    } catch (IOException e) {
      throw new BenchFailure("%s can not be read: %s".formatted(folder, e.getMessage()), e);
    }
  }

  private void configure(Path cmake, Path ninja, Path sources) {
    progress.say("configuring");
    run(
        List.of(
            cmake.toString(),
            "-S",
            sources.toString(),
            "-B",
            build(),
            "-G",
            "Ninja",
            "-DCMAKE_MAKE_PROGRAM=" + ninja,
            "-DCMAKE_BUILD_TYPE=Release",
            "-DGGML_NATIVE=ON",
            "-DLLAMA_CURL=OFF",
            "-DLLAMA_BUILD_UI=OFF",
            "-DLLAMA_BUILD_TESTS=OFF"));
  }

  private void compile(Path cmake) {
    List<String> command =
        Stream.concat(
                Stream.of(cmake.toString(), "--build", build(), "--target"), Peer.PROGRAMS.stream())
            .toList();
    run(command, this::tell);
  }

  private void tell(String line) {
    Matcher step = STEP.matcher(line);
    if (step.matches() && Integer.parseInt(step.group(1)) % TOLD_EVERY == 0) {
      progress.say("%s of %s", step.group(1), step.group(2));
    }
  }

  private String build() {
    return folder.resolve("build-" + VERSION).toString();
  }

  private void run(List<String> command) {
    run(command, _ -> {});
  }

  private void run(List<String> command, Consumer<String> told) {
    Child.run(command, folder.resolve("build.log"), Map.of(), told);
  }
}
