package firstlight.app;

import firstlight.protocol.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Finds and reads the file of the configuration. */
final class ConfigurationFile {
  private static final long BYTES_MAX = 1 << 20;

  private ConfigurationFile() {}

  /** Where the project or the installation lies: its {@code conf} is there. */
  static Path home() {
    return Path.of(System.getProperty("firstlight.home", ".")).toAbsolutePath().normalize();
  }

  /** The file named, or the default one. */
  static Path path(ConfigOptions options) {
    return options.file == null ? home().resolve("conf").resolve("local.yaml") : options.file;
  }

  /**
   * @throws StartFailure when there is no such file
   */
  static Map<String, Object> read(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new StartFailure(
          "there is no configuration %s. Name one with --config.".formatted(file));
    }
    if (Files.size(file) > BYTES_MAX) {
      throw new StartFailure("%s is too large for a configuration".formatted(file));
    }
    return Settings.tree(Files.readString(file));
  }
}
