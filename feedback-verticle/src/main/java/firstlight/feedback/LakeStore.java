package firstlight.feedback;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Objects under names. Blocks: for worker threads only. Each call fails with an IOException when
 * the store is away; then it may or may not have had its effect.
 */
interface LakeStore {
  /** Makes sure that the store is there and can be used. */
  void prepare() throws IOException;

  /**
   * Makes an object, at once and as a whole.
   *
   * @return false when there is one of that name, which stays as it is
   */
  boolean create(String name, Path content) throws IOException;

  /** The same with a few bytes. */
  boolean create(String name, byte[] content) throws IOException;

  /** A small object's bytes; null when there is none. */
  byte @Nullable [] read(String name) throws IOException;

  /** Copies an object to a file. */
  void fetch(String name, Path to) throws IOException;

  /** Does nothing when there is none. */
  void delete(String name) throws IOException;

  /** The address of an object, as other readers name it. */
  String uri(String name);

  void close();
}
