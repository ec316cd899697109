package firstlight.lake;

import firstlight.protocol.LockFile;
import firstlight.protocol.Time;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Copies of data files on the local disk. A data file never changes, so a copy with its name and
 * size is as good as the file. Several processes may share the folder:
 *
 * <ul>
 *   <li>{@code files/}: the copies, together never larger than the bound. Whoever fetches holds
 *       {@code lock}, removes what was used longest ago, and renames a copy to its name once it is
 *       complete.
 *   <li>{@code use/}: a folder for each running reader, with hard links to what it reads. So
 *       nothing that is read goes away, whoever removes it from {@code files}. What a dead reader
 *       left is removed by the next one.
 * </ul>
 */
final class FileCache implements AutoCloseable {
  private static final int ATTEMPTS = 3;
  private static final String PART = ".part";

  private final Path files;
  private final Path folder;
  private final long bytesMax;
  private final Time time;
  private final Path mine;
  private final LockFile mineLock;

  /**
   * A file that is read.
   *
   * @param key a name of letters, digits and - that no other file has
   */
  record Wanted(String key, long bytes, Source source) {
    String name() {
      return "%s-%d.parquet".formatted(key, bytes);
    }
  }

  /** Where a file comes from. */
  @FunctionalInterface
  interface Source {
    InputStream open() throws IOException;
  }

  private FileCache(Path folder, long bytesMax, Time time) throws IOException {
    this.folder = folder;
    this.bytesMax = bytesMax;
    this.time = time;
    this.files = Files.createDirectories(folder.resolve("files"));
    Path use = Files.createDirectories(folder.resolve("use"));
    try (Held _ = lock()) {
      removeDead(use);
      mine = Files.createTempDirectory(use, ProcessHandle.current().pid() + "-");
      mineLock =
          LockFile.take(mine.resolve("lock"))
              .orElseThrow(() -> new IOException("somebody else has the new folder " + mine));
    }
  }

  /** Opens it for one reader; waits while another process fetches. */
  static FileCache open(Path folder, long bytesMax, Time time) throws IOException {
    return new FileCache(folder.toAbsolutePath().normalize(), bytesMax, time);
  }

  /** A folder of this reader alone; it goes when the cache is closed. */
  Path workFolder() {
    return mine;
  }

  /**
   * Sees that all of them are there.
   *
   * @return their copies in the same order; they stay until the cache is closed
   * @throws LakeFailure when they are larger than the bound, or can not be fetched
   */
  List<Path> fetch(List<Wanted> wanted, int parallel, FetchProgress progress) throws IOException {
    long all = wanted.stream().mapToLong(Wanted::bytes).sum();
    if (all > bytesMax) {
      throw new LakeFailure(
          "the question needs %d MiB of data files, and the cache %s holds %d MiB. Ask for a"
                  .formatted(all >> 20, folder, bytesMax >> 20)
              + " shorter time with --since and --until, or give more with --cache-max.");
    }
    List<Path> links = wanted.stream().map(each -> mine.resolve(each.name())).toList();
    try (Held _ = lock()) {
      List<Wanted> missing = new ArrayList<>();
      for (Wanted each : wanted) {
        if (!link(each)) {
          missing.add(each);
        }
      }
      makeRoom(missing.stream().mapToLong(Wanted::bytes).sum());
      download(missing, parallel, progress);
    }
    return links;
  }

  /** Whether there is a copy; then it is one of those last used. */
  private boolean link(Wanted wanted) throws IOException {
    Path copy = files.resolve(wanted.name());
    Path link = mine.resolve(wanted.name());
    try {
      if (Files.size(copy) != wanted.bytes()) {
        Files.delete(copy);
        return false;
      }
      Files.setLastModifiedTime(copy, FileTime.fromMillis(time.epochMillis()));
      if (!Files.exists(link)) {
        Files.createLink(link, copy);
      }
      return true;
    } catch (NoSuchFileException _) {
      return false;
    }
  }

  private record Copy(Path path, long bytes, FileTime used) {}

  private void makeRoom(long needed) throws IOException {
    List<Copy> copies = copies();
    long held = copies.stream().mapToLong(Copy::bytes).sum();
    for (Copy copy : copies) {
      if (held + needed <= bytesMax) {
        return;
      }
      Files.delete(copy.path);
      held -= copy.bytes;
    }
  }

  /** Those used longest ago first. Whoever looks holds the lock, so no part is still written. */
  private List<Copy> copies() throws IOException {
    List<Copy> copies = new ArrayList<>();
    try (Stream<Path> all = Files.list(files)) {
      for (Path path : all.toList()) {
        if (path.toString().endsWith(PART)) {
          Files.delete(path);
        } else {
          copies.add(new Copy(path, Files.size(path), Files.getLastModifiedTime(path)));
        }
      }
    }
    copies.sort(Comparator.comparing(Copy::used));
    return copies;
  }

  private void download(List<Wanted> missing, int parallel, FetchProgress progress)
      throws IOException {
    long total = missing.stream().mapToLong(Wanted::bytes).sum();
    AtomicLong done = new AtomicLong();
    // A failed one stops the rest: nothing more is begun once the executor is shut down.
    try (ExecutorService threads = Executors.newFixedThreadPool(parallel)) {
      List<CompletableFuture<Void>> fetches =
          missing.stream()
              .map(each -> CompletableFuture.runAsync(() -> download(each), threads))
              .map(fetch -> fetch.whenComplete((_, failure) -> stopAfter(failure, threads)))
              .toList();
      for (int i = 0; i < fetches.size(); i++) {
        fetches.get(i).join();
        progress.fetched(done.addAndGet(missing.get(i).bytes()), total);
      }
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException known ? known : e;
    }
    for (Wanted each : missing) {
      if (!link(each)) {
        throw new IOException(each.name() + " went away");
      }
    }
  }

  private static void stopAfter(Throwable failure, ExecutorService threads) {
    if (failure != null) {
      threads.shutdownNow();
    }
  }

  private void download(Wanted wanted) {
    for (int attempt = 1; ; attempt++) {
      try {
        copy(wanted);
        return;
      } catch (IOException e) {
        if (attempt == ATTEMPTS || Thread.currentThread().isInterrupted()) {
          throw new UncheckedIOException(
              new IOException("a data file can not be fetched: " + e.getMessage(), e));
        }
      }
    }
  }

  private void copy(Wanted wanted) throws IOException {
    Path part = files.resolve(wanted.name() + PART);
    try (InputStream in = wanted.source().open()) {
      long bytes = Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
      if (bytes != wanted.bytes()) {
        throw new IOException("it has %d bytes instead of %d".formatted(bytes, wanted.bytes()));
      }
      Files.move(part, files.resolve(wanted.name()), StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private interface Held extends AutoCloseable {
    @Override
    void close() throws IOException;
  }

  private Held lock() throws IOException {
    FileChannel channel =
        FileChannel.open(
            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    channel.lock();
    return channel::close;
  }

  private static void removeDead(Path use) throws IOException {
    try (Stream<Path> readers = Files.list(use)) {
      for (Path reader : readers.toList()) {
        if (isDead(reader)) {
          deleteTree(reader);
        }
      }
    }
  }

  private static boolean isDead(Path reader) throws IOException {
    Optional<LockFile> left = LockFile.take(reader.resolve("lock"));
    if (left.isPresent()) {
      left.get().close();
    }
    return left.isPresent();
  }

  private static void deleteTree(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }

  @Override
  public void close() {
    try {
      mineLock.close();
      deleteTree(mine);
    } catch (IOException | UncheckedIOException _) {
      // The next reader removes it.
    }
  }
}
