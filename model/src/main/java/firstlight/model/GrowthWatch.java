package firstlight.model;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.function.LongSupplier;

/**
 * Watches a download by what it has written so far: tells the progress, and notices when nothing
 * moves any more. Time is counted in looks, which the caller takes every {@link #LOOK_MILLIS}.
 */
final class GrowthWatch {
  static final long LOOK_MILLIS = 200;
  private static final int IDLE_LOOKS_MAX = 5 * 120;

  private final Path root;
  private final LongSupplier total;
  private final ModelStore.Progress progress;
  private long seen;
  private int idleLooks;

  /**
   * @param root a file or folder; need not be there yet
   * @param total bytes in the end; 0: not known
   */
  GrowthWatch(Path root, LongSupplier total, ModelStore.Progress progress) {
    this.root = root;
    this.total = total;
    this.progress = progress;
  }

  /** Looks, and tells; refuses when nothing has come for two minutes. */
  void look(String from) throws IOException {
    long now = bytes();
    idleLooks = now == seen ? idleLooks + 1 : 0;
    seen = now;
    if (idleLooks > IDLE_LOOKS_MAX) {
      throw new ModelStoreException(
          "%s has sent nothing for two minutes. Check the network and try again.".formatted(from));
    }
    long expected = total.getAsLong();
    progress.report("downloading", now, expected == 0 ? 0 : Math.max(now, expected));
  }

  private long bytes() throws IOException {
    if (!Files.exists(root)) {
      return 0;
    }
    Sum sum = new Sum();
    Files.walkFileTree(root, sum);
    return sum.bytes;
  }

  private static final class Sum extends SimpleFileVisitor<Path> {
    private long bytes;

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      bytes += attributes.size();
      return FileVisitResult.CONTINUE;
    }

    // Files come and go while this looks.
    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) {
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path folder, IOException failure) {
      return FileVisitResult.CONTINUE;
    }
  }
}
