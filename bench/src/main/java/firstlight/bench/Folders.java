package firstlight.bench;

import firstlight.model.CacheFolder;
import firstlight.model.DefaultModels;
import firstlight.model.ModelStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;

/** Where things lie that outlive a run: models, the peer, files made of models. */
final class Folders {
  private Folders() {}

  /** The project's folder. */
  static Path home() {
    return Path.of(System.getProperty("firstlight.home", ".")).toAbsolutePath().normalize();
  }

  /** The file of a default model, fetched when it is missing. */
  static Path model(String name, Progress progress) {
    progress.say("model %s", name);
    return new ModelStore(CacheFolder.ofUser().resolve("models"))
        .fetch(
            name,
            Objects.requireNonNull(DefaultModels.SOURCES.get(name), name),
            (phase, done, total) -> {});
  }

  /** Files made of models. */
  static Path made() {
    Path folder = CacheFolder.ofUser().resolve("bench");
    try {
      return Files.createDirectories(folder);
    } catch (IOException e) {
      throw new BenchFailure("%s can not be made: %s".formatted(folder, e.getMessage()), e);
    }
  }

  /** What lies there is of use to nobody once the services have ended. */
  static void empty(Path folder) {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new BenchFailure("%s can not be emptied: %s".formatted(folder, e.getMessage()), e);
    }
  }
}
