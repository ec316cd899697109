package firstlight.gpu.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** Where the kernels' sources lie, and what the build made of them: in the jar, or in a folder. */
@FunctionalInterface
interface KernelFiles {
  int BYTES_MAX = 64 << 20;

  /** What a file has; empty: there is no such file. */
  Optional<byte[]> read(String name) throws IOException;

  /** Beside this class. */
  static KernelFiles ofJar() {
    return name -> {
      try (InputStream in = KernelFiles.class.getResourceAsStream(name)) {
        return in == null ? Optional.empty() : Optional.of(bounded(in, name));
      }
    };
  }

  static KernelFiles ofFolder(Path folder) {
    return name -> {
      try (InputStream in = Files.newInputStream(folder.resolve(name))) {
        return Optional.of(bounded(in, name));
      } catch (NoSuchFileException _) {
        return Optional.empty();
      }
    };
  }

  private static byte[] bounded(InputStream in, String name) throws IOException {
    byte[] bytes = in.readNBytes(BYTES_MAX + 1);
    if (bytes.length > BYTES_MAX) {
      throw new IOException(name + " is longer than " + BYTES_MAX + " bytes");
    }
    return bytes;
  }
}
