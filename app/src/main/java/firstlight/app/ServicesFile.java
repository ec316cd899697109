package firstlight.app;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;

/**
 * Where the embedded services of a running node are: {@code services.json} in its data folder, for
 * its owner only, there from when they answer until they stop.
 *
 * @param format of this file; 1
 * @param pid the process that runs them
 * @param settings their addresses, by the names of the settings that say them
 */
record ServicesFile(int format, long pid, Map<String, Object> settings) {
  private static final int FORMAT = 1;
  private static final String NAME = "services.json";
  private static final ObjectMapper JSON = new ObjectMapper();

  static ServicesFile ofThisProcess(Map<String, Object> settings) {
    return new ServicesFile(FORMAT, ProcessHandle.current().pid(), Map.copyOf(settings));
  }

  /** Whoever reads it at any moment sees all of it or nothing. */
  void write(Path folder) throws IOException {
    Path part =
        Files.createTempFile(
            folder,
            NAME,
            ".part",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.write(part, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(this));
    Files.move(part, folder.resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
  }

  static void remove(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(NAME));
  }

  /**
   * What a running node says; empty: none has said it.
   *
   * @throws StartFailure when another version wrote it
   */
  static Optional<ServicesFile> read(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    if (!Files.isRegularFile(file)) {
      return Optional.empty();
    }
    ServicesFile found;
    try {
      found = JSON.readValue(file.toFile(), ServicesFile.class);
    } catch (JacksonException e) {
      found = new ServicesFile(0, 0, Map.of());
    }
    if (found.format != FORMAT) {
      throw new StartFailure(
          "the node that uses %s is of another version. Use the launcher that it was started with."
              .formatted(folder));
    }
    // What a node left that was killed says nothing.
    return ProcessHandle.of(found.pid).isPresent() ? Optional.of(found) : Optional.empty();
  }
}
