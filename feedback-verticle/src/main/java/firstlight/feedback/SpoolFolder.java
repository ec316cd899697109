package firstlight.feedback;

import firstlight.protocol.IdSource;
import firstlight.protocol.LockFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A folder of its own for each sink, below the configured one. A file beside it is locked before
 * the folder is there and while the sink lives, so that the next one can tell what a dead process
 * left behind, and delete it. Blocks.
 */
final class SpoolFolder {
  private static final String LOCK = ".lock";
  private static final String PREFIX = "sink-";

  private final Path folder;
  private final LockFile lock;

  private SpoolFolder(Path folder, LockFile lock) {
    this.folder = folder;
    this.lock = lock;
  }

  static SpoolFolder open(Path parent, IdSource ids) throws IOException {
    Files.createDirectories(parent);
    sweep(parent);
    Path folder = parent.resolve(ids.next(PREFIX));
    LockFile lock =
        LockFile.take(lock(folder))
            .orElseThrow(() -> new IOException("somebody else has the new folder " + folder));
    try {
      return new SpoolFolder(Files.createDirectory(folder), lock);
    } catch (IOException e) {
      lock.close();
      throw e;
    }
  }

  Path path() {
    return folder;
  }

  void close() throws IOException {
    delete(folder);
    Files.deleteIfExists(lock(folder));
    lock.close();
  }

  private static Path lock(Path folder) {
    return folder.resolveSibling(folder.getFileName() + LOCK);
  }

  private static void sweep(Path parent) throws IOException {
    List<String> names;
    try (Stream<Path> files = Files.list(parent)) {
      names =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.startsWith(PREFIX))
              .map(name -> name.endsWith(LOCK) ? name.substring(0, name.lastIndexOf(LOCK)) : name)
              .distinct()
              .toList();
    }
    for (String name : names) {
      sweepOne(parent.resolve(name));
    }
  }

  private static void sweepOne(Path folder) throws IOException {
    Optional<LockFile> abandoned = LockFile.take(lock(folder));
    if (abandoned.isPresent()) {
      try (LockFile _ = abandoned.get()) {
        delete(folder);
        Files.deleteIfExists(lock(folder));
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    List<Path> inside;
    try (Stream<Path> files = Files.list(folder)) {
      inside = files.toList();
    } catch (NoSuchFileException e) {
      return;
    }
    for (Path file : inside) {
      Files.deleteIfExists(file);
    }
    Files.deleteIfExists(folder);
  }
}
