package firstlight.app;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Where the lake is and what reading it may take; common to all its commands. */
final class LakeOptions {
  @Mixin private ConfigOptions config = new ConfigOptions();

  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      description = "Where the embedded services keep their data. Default: data.")
  private @Nullable Path data;

  @Option(
      names = "--cache-max",
      paramLabel = "SIZE",
      description = "Most bytes of copies of data files on this machine. Default: 4GiB.")
  private @Nullable String cacheMax;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "Most memory a question may take. Default: 1GiB.")
  private @Nullable String memory;

  ConfigOptions config() {
    return config;
  }

  Overrides overrides() {
    Overrides overrides = new Overrides();
    overrides.putIfGiven("node.data", data);
    overrides.putIfGiven("lake.reader.cacheBytes", cacheMax);
    overrides.putIfGiven("lake.reader.memoryBytes", memory);
    return overrides;
  }

  /** What a command does with the lake. */
  @FunctionalInterface
  interface Work {
    void with(LakeServices lake) throws Exception;
  }

  /**
   * Runs a command's work.
   *
   * @return its exit code
   */
  int run(Work work) throws Exception {
    try (LakeServices lake = LakeServices.open(this)) {
      work.with(lake);
      return 0;
    } catch (LakeOutput.Gone e) {
      // As with head: whoever read it had enough.
      return 0;
    }
  }
}
