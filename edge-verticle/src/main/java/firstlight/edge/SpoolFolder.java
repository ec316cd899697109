package firstlight.edge;

import firstlight.protocol.IdSource;
import firstlight.protocol.LockFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of one spool, below the configured one. A process holds a lock on it while it lives; a
 * folder without one was left behind. It has an id, by which Kafka knows how far it was sent.
 * Blocks.
 */
final class SpoolFolder implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(SpoolFolder.class);
  private static final String PREFIX = "spool-";
  private static final String LOCK = "lock";
  private static final String ID = "id";
  private static final String SENT = "sent";

  private final Path path;
  private final LockFile lock;
  private final String id;

  private SpoolFolder(Path path, LockFile lock, String id) {
    this.path = path;
    this.lock = lock;
    this.id = id;
  }

  /** One that was left behind, else a new one. */
  static SpoolFolder own(Path parent, IdSource ids) throws IOException {
    Optional<SpoolFolder> left = abandoned(parent, ids);
    if (left.isPresent()) {
      return left.get();
    }
    return create(parent, ids.next(""));
  }

  /** A new one with an id that is in use already. */
  static SpoolFolder create(Path parent, String id) throws IOException {
    Path path = Files.createDirectories(parent.resolve(PREFIX + id));
    write(path, id);
    return lock(path, () -> id)
        .orElseThrow(() -> new IOException("somebody else has the new folder " + path));
  }

  /** One that was left behind, if there is any; it is ours then. */
  static Optional<SpoolFolder> abandoned(Path parent, IdSource ids) throws IOException {
    Files.createDirectories(parent);
    try (Stream<Path> folders = Files.list(parent)) {
      for (Path folder : folders.filter(SpoolFolder::isSpool).sorted().toList()) {
        try {
          Optional<SpoolFolder> ours = lock(folder, () -> ids.next(""));
          if (ours.isPresent()) {
            return ours;
          }
        } catch (IOException e) {
          LOG.warn("A folder of Events can not be used: {}", e.toString());
        }
      }
    }
    return Optional.empty();
  }

  Path path() {
    return path;
  }

  /** The same as long as the folder is there. */
  String id() {
    return id;
  }

  /** How far it was sent, as far as is known here; 0: it is not. */
  long sent() {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path.resolve(SENT)));
      boolean whole = bytes.remaining() == 2 * Long.BYTES;
      long position = whole ? bytes.getLong() : 0;
      return whole && bytes.getLong() == check(position) ? position : 0;
    } catch (IOException _) {
      return 0;
    }
  }

  /** Notes how far it was sent, for the case that Kafka forgets. */
  void sent(long position) {
    ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES);
    bytes.putLong(position).putLong(check(position));
    try {
      Files.write(path.resolve(SENT), bytes.array());
    } catch (IOException e) {
      LOG.debug("Kafka alone knows how far Events were sent: {}", e.toString());
    }
  }

  /** Gives it back, for the next process. */
  @Override
  public void close() throws IOException {
    lock.close();
  }

  /** Deletes it with all that is in it. */
  void delete() throws IOException {
    try (Stream<Path> files = Files.list(path)) {
      // The lock last: who waits for it must find it gone.
      for (Path file : files.sorted(Comparator.comparing(this::isLock)).toList()) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(path);
    lock.close();
  }

  private boolean isLock(Path file) {
    return file.endsWith(LOCK);
  }

  private static boolean isSpool(Path folder) {
    return folder.getFileName().toString().startsWith(PREFIX) && Files.isDirectory(folder);
  }

  private static Optional<SpoolFolder> lock(Path folder, Supplier<String> newId)
      throws IOException {
    Optional<LockFile> taken = LockFile.take(folder.resolve(LOCK));
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new SpoolFolder(folder, taken.get(), readId(folder, newId)));
    } catch (IOException e) {
      taken.get().close();
      throw e;
    }
  }

  private static String readId(Path folder, Supplier<String> newId) throws IOException {
    Path file = folder.resolve(ID);
    if (Files.exists(file)) {
      String id = Files.readString(file).strip();
      if (!id.isEmpty()) {
        return id;
      }
    }
    String id = newId.get();
    write(folder, id);
    return id;
  }

  private static void write(Path folder, String id) throws IOException {
    Path written = folder.resolve(ID + ".new");
    Files.write(written, id.getBytes(StandardCharsets.UTF_8));
    Files.move(
        written,
        folder.resolve(ID),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  private static long check(long position) {
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(Long.BYTES).putLong(position).flip());
    return crc.getValue();
  }
}
