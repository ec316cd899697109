package firstlight.protocol;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A file that one owner at a time has locked, among all processes and within this one; the lock
 * ends with its process. Blocks only for the disk.
 *
 * <p>POSIX gives up all locks of a process on a file when the process closes any descriptor of it
 * (fcntl, IEEE Std 1003.1), so a file that this process has locked is never opened again.
 */
public final class LockFile implements Closeable {
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path key;
  private final FileChannel channel;

  private LockFile(Path key, FileChannel channel) {
    this.key = key;
    this.channel = channel;
  }

  /**
   * Locks it, and makes it if it is not there.
   *
   * @return empty: somebody else has it, or deleted it just now
   */
  public static Optional<LockFile> take(Path file) throws IOException {
    Path key = file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
    if (!HELD.add(key)) {
      return Optional.empty();
    }
    @Nullable FileChannel channel = null;
    boolean ours = false;
    try {
      channel = FileChannel.open(key, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      // Between opening and locking its last owner may have deleted it.
      ours = channel.tryLock() != null && Files.exists(key);
      return ours ? Optional.of(new LockFile(key, channel)) : Optional.empty();
    } finally {
      if (!ours) {
        release(key, channel);
      }
    }
  }

  private static void release(Path key, @Nullable FileChannel channel) throws IOException {
    try {
      if (channel != null) {
        channel.close();
      }
    } finally {
      HELD.remove(key);
    }
  }

  /** Gives it back; the file stays. */
  @Override
  public void close() throws IOException {
    release(key, channel);
  }
}
