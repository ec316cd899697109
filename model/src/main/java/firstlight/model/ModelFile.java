package firstlight.model;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A GGUF file: metadata copied out, tensors mapped, everything checked against the file's size.
 *
 * <p><b>Files that change.</b> A mapped page whose file was cut short faults when it is touched:
 * Java code gets an InternalError, native code ends the process. So nothing that serves touches the
 * mapping: metadata (with vocabulary and template) is copied when the file is opened, and a device
 * copies the weights with Java code when it loads, calls {@link #checkUnchanged} after it, and may
 * then {@linkplain #close close} the file. What is done to the file from then on has no effect. New
 * files should get their place by a rename, as {@link ModelStore} does it.
 *
 * <p>Thread-safe.
 */
public final class ModelFile implements AutoCloseable {
  private final Path path;
  private final FileChannel channel;
  private final long size;
  private final BasicFileAttributes opened;
  private final Arena arena = Arena.ofShared();
  private final Metadata metadata;
  private final Map<String, Tensor> tensors;
  private @Nullable Hyperparameters hyperparameters;
  private @Nullable String digest;

  private ModelFile(Path path, FileChannel channel, BasicFileAttributes opened) throws IOException {
    this.path = path;
    this.channel = channel;
    this.opened = opened;
    size = channel.size();
    GgufHead head = GgufReader.read(new GgufCursor(path, channel, size));
    metadata = head.metadata();
    MemorySegment mapping = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (GgufHead.Entry entry : head.tensors()) {
      MemorySegment data = mapping.asSlice(entry.start(), entry.bytes());
      named.put(entry.name(), new Tensor(entry.name(), entry.type(), entry.shape(), data));
    }
    tensors = Collections.unmodifiableMap(named);
  }

  /**
   * Opens, maps and checks a file.
   *
   * @throws InvalidModelFile no such file, not readable, or not a sound GGUF file: file, offset and
   *     reason on one line
   */
  public static ModelFile open(Path path) {
    try {
      // Opening a pipe would wait for a writer, so look before opening.
      if (Files.exists(path) && !Files.isRegularFile(path)) {
        throw new InvalidModelFile(path, "not a regular file");
      }
      BasicFileAttributes opened = attributes(path);
      FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
      try {
        return new ModelFile(path, channel, opened);
      } catch (IOException | RuntimeException e) {
        channel.close();
        throw e;
      }
    } catch (NoSuchFileException _) {
      throw new InvalidModelFile(path, "there is no such file");
    } catch (AccessDeniedException _) {
      throw new InvalidModelFile(path, "no permission to read it");
    } catch (IOException e) {
      throw new InvalidModelFile(path, "it cannot be read (" + e.getMessage() + ")");
    }
  }

  public Path path() {
    return path;
  }

  /** The key/values. They stay usable after this file is closed. */
  public Metadata metadata() {
    return metadata;
  }

  /**
   * @throws InvalidModelFile there is no such tensor
   */
  public Tensor tensor(String name) {
    return find(name)
        .orElseThrow(
            () ->
                new InvalidModelFile(
                    path, "tensor %s is missing".formatted(InvalidModelFile.shown(name))));
  }

  public Optional<Tensor> find(String name) {
    return Optional.ofNullable(tensors.get(name));
  }

  /** All tensors, in the file's order. */
  public Collection<Tensor> tensors() {
    return tensors.values();
  }

  /**
   * What the model is. Read once; checks that every tensor of the architecture is there, in the
   * right shape, and none that it does not know.
   *
   * @throws InvalidModelFile an architecture that is not supported (its name, and those that are),
   *     a key that is missing or has a senseless value, or a tensor that is missing or has a wrong
   *     shape
   */
  public synchronized Hyperparameters hyperparameters() {
    if (hyperparameters == null) {
      hyperparameters = Architecture.read(this);
    }
    return hyperparameters;
  }

  /**
   * How fast the rotary position embedding turns in a layer: for each pair of elements, radians per
   * position, every scaling included ({@code ropeDimensions / 2} numbers). Reads the mapping.
   *
   * @throws InvalidModelFile as {@link #hyperparameters}
   */
  public float[] ropeFrequencies(int layer) {
    return RopeFrequencies.of(this, layer);
  }

  /**
   * SHA-256 of the file, hexadecimal. The first call reads the whole file.
   *
   * @throws InvalidModelFile the file cannot be read any more
   */
  public synchronized String digest() {
    if (digest == null) {
      try {
        digest = Sha256.of(channel, (_, _, _) -> {});
      } catch (IOException e) {
        throw new InvalidModelFile(path, "it cannot be read any more (" + e.getMessage() + ")");
      }
    }
    return digest;
  }

  /**
   * To be called once everything wanted has been read from the tensors.
   *
   * @throws InvalidModelFile the file's length or time of change is not what it was when it was
   *     opened, so that what was read may be garbage
   */
  public void checkUnchanged() {
    try {
      if (channel.size() < size || isOtherThanOpened()) {
        throw new InvalidModelFile(path, "the file was changed while it was loaded");
      }
    } catch (IOException e) {
      throw new InvalidModelFile(path, "it cannot be read any more (" + e.getMessage() + ")");
    }
  }

  /** A file that was replaced by a rename is another one: it does not touch the mapped one. */
  private boolean isOtherThanOpened() throws IOException {
    if (!Files.exists(path)) {
      return false;
    }
    BasicFileAttributes now = attributes(path);
    return Objects.equals(now.fileKey(), opened.fileKey())
        && !now.lastModifiedTime().equals(opened.lastModifiedTime());
  }

  private static BasicFileAttributes attributes(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class);
  }

  /** Ends the mapping: tensors must not be read after it; metadata may. */
  @Override
  public synchronized void close() {
    if (arena.scope().isAlive()) {
      arena.close();
      try {
        channel.close();
      } catch (IOException e) {
        throw new InvalidModelFile(path, "it cannot be closed (" + e.getMessage() + ")");
      }
    }
  }
}
