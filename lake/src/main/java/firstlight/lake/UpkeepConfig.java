package firstlight.lake;

import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How the tables are kept in order. The section {@code upkeep} of the lake's settings.
 *
 * @param every time from the end of a run to the next one
 * @param keepSnapshots how long a snapshot can still be read after it was replaced; longer than the
 *     longest query takes
 * @param orphanAge how old an object is that is deleted because no snapshot refers to it
 * @param orphansMax so many of a table are deleted in one run at most
 */
public record UpkeepConfig(
    boolean enabled,
    Duration every,
    Compaction compaction,
    Duration keepSnapshots,
    Duration orphanAge,
    int orphansMax) {
  private static final Duration SOON = Duration.ofMinutes(10);

  /**
   * Which files are merged, and with what means.
   *
   * @param smallBytes a file of at least this size is left alone
   * @param filesMin so many small files of a day are merged; of a day that is over, two
   * @param filesMax so many become one at most
   * @param targetBytes of the files that become one, together
   * @param mergesMax merges of a table in one run
   * @param memory bytes that DuckDB may use; the rest goes to the folder
   * @param threads of DuckDB
   * @param folder for copies of the files, a few times the target size
   */
  public record Compaction(
      long smallBytes,
      int filesMin,
      int filesMax,
      long targetBytes,
      int mergesMax,
      long memory,
      int threads,
      Path folder) {}

  /** Reads the section; mistakes are noted in its problems. */
  public static UpkeepConfig read(Settings settings) {
    UpkeepConfig config =
        new UpkeepConfig(
            settings.flag("enabled", true),
            settings.duration("every", Duration.ofMinutes(5)),
            compaction(settings),
            settings.duration("keepSnapshots", Duration.ofMinutes(10)),
            settings.duration("orphanAge", Duration.ofDays(1)),
            settings.integer("orphansMax", 10_000, 1, 1_000_000));
    config.check(settings);
    settings.done();
    return config;
  }

  private static Compaction compaction(Settings settings) {
    return new Compaction(
        settings.bytes("smallBytes", 32L << 20),
        settings.integer("filesMin", 8, 2, 1000),
        settings.integer("filesMax", 1000, 2, 10_000),
        settings.bytes("targetBytes", 128L << 20),
        settings.integer("mergesMax", 8, 1, 1000),
        settings.bytes("memory", 512L << 20),
        settings.integer("threads", 1, 1, 64),
        Path.of(settings.text("folder", "data/lake-upkeep")));
  }

  private void check(Settings settings) {
    settings
        .problems()
        .require(every.toMillis() >= 1000, "lake.upkeep.every must be at least one second");
    settings
        .problems()
        .require(
            compaction.targetBytes >= 2 * compaction.smallBytes && compaction.smallBytes > 0,
            "lake.upkeep.targetBytes must be at least twice lake.upkeep.smallBytes");
    settings
        .problems()
        .require(
            compaction.targetBytes <= 4L << 30, "lake.upkeep.targetBytes must be at most 4GiB");
    settings
        .problems()
        .require(
            compaction.filesMax >= compaction.filesMin,
            "lake.upkeep.filesMax must not be less than lake.upkeep.filesMin");
    settings
        .problems()
        .require(compaction.memory >= 64L << 20, "lake.upkeep.memory must be at least 64MiB");
    settings
        .problems()
        .require(
            orphanAge.compareTo(SOON) >= 0,
            "lake.upkeep.orphanAge must be at least 10m: an upload and its commit lie between");
  }
}
