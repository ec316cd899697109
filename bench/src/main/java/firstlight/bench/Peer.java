package firstlight.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** llama.cpp's programs, in one folder. */
record Peer(Path folder) {
  /** What benchmarks run of it. */
  static final List<String> PROGRAMS =
      List.of(
          "llama-bench",
          "llama-batched-bench",
          "llama-server",
          "llama-quantize",
          "llama-perplexity");

  /**
   * @throws BenchFailure naming what is missing
   */
  static Peer in(Path folder) {
    List<String> missing =
        PROGRAMS.stream().filter(name -> !Files.isExecutable(folder.resolve(name))).toList();
    if (!missing.isEmpty()) {
      throw new BenchFailure(
          "%s has no %s. Name a folder with llama.cpp's programs by --peer-dir, or build them with"
                  .formatted(folder, String.join(", ", missing))
              + " `./firstlight bench peer`.");
    }
    return new Peer(folder.toAbsolutePath());
  }

  String program(String name) {
    return folder.resolve(name).toString();
  }

  /** A file re-quantised to Q4_0, for which llama.cpp has its fastest kernels; made once. */
  Path requantised(Path model, Path folder, Progress progress) {
    String name = model.getFileName().toString().replace(".gguf", "");
    Path file = folder.resolve(name + "-q4_0.gguf");
    if (!Files.exists(file)) {
      progress.say("re-quantising %s to Q4_0 for llama.cpp", name);
      Path part = folder.resolve(name + "-q4_0.part");
      Child.run(
          List.of(
              program("llama-quantize"),
              "--allow-requantize",
              model.toString(),
              part.toString(),
              "Q4_0"),
          folder.resolve("quantize.log"));
      if (!part.toFile().renameTo(file.toFile())) {
        throw new BenchFailure("%s can not be renamed to %s".formatted(part, file));
      }
    }
    return file;
  }
}
