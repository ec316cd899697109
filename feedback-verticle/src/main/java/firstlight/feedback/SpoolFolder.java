package firstlight.feedback;

import firstlight.protocol.IdSource;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder of its own for each sink, below the configured one. It holds a lock while it lives, so
 * that the next one can tell what a dead process left behind, and delete it. Blocks.
 */
final class SpoolFolder {
  private static final String LOCK = ".lock";
  private static final String PREFIX = "sink-";

  private final Path folder;
  private final FileChannel lock;

  private SpoolFolder(Path folder, FileChannel lock) {
    this.folder = folder;
    this.lock = lock;
  }

  static SpoolFolder open(Path parent, IdSource ids) throws IOException {
    Files.createDirectories(parent);
    sweep(parent);
    Path folder = Files.createDirectory(parent.resolve(ids.next(PREFIX)));
    FileChannel channel =
        FileChannel.open(
            folder.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    channel.lock();
    return new SpoolFolder(folder, channel);
  }

  Path path() {
    return folder;
  }

  void close() throws IOException {
    lock.close();
    delete(folder);
  }

  private static void sweep(Path parent) throws IOException {
    try (Stream<Path> folders = Files.list(parent)) {
      for (Path old : folders.filter(SpoolFolder::abandoned).toList()) {
        delete(old);
      }
    }
  }

  private static boolean abandoned(Path folder) {
    if (!folder.getFileName().toString().startsWith(PREFIX)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.WRITE);
        FileLock held = channel.tryLock()) {
      return held != null;
    } catch (OverlappingFileLockException | IOException e) {
      return false;
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
