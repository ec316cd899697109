package firstlight.app;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which configuration to use; common to several commands. */
final class ConfigOptions {
  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "The configuration. Default: conf/local.yaml.")
  @Nullable Path file;
}
