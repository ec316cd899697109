package firstlight.lake;

import firstlight.protocol.Settings;

/**
 * What reading the lake from the command line may take. The section {@code lake.reader} of the
 * settings.
 *
 * @param cacheBytes most bytes of copies of data files on the local disk
 * @param memoryBytes most memory of DuckDB; what does not fit goes to the disk
 * @param spillBytes most bytes of that
 * @param threads of DuckDB
 * @param downloads data files that are fetched at the same time
 */
public record LakeReaderConfig(
    long cacheBytes, long memoryBytes, long spillBytes, int threads, int downloads) {

  /** What is in force when nothing is said. */
  public static final LakeReaderConfig DEFAULT =
      new LakeReaderConfig(4L << 30, 1L << 30, 16L << 30, 4, 4);

  private static final long MEMORY_BYTES_MIN = 64L << 20;

  /** Reads the section; mistakes are noted in its problems. */
  public static LakeReaderConfig read(Settings settings) {
    LakeReaderConfig config =
        new LakeReaderConfig(
            settings.bytes("cacheBytes", DEFAULT.cacheBytes),
            settings.bytes("memoryBytes", DEFAULT.memoryBytes),
            settings.bytes("spillBytes", DEFAULT.spillBytes),
            settings.integer("threads", DEFAULT.threads, 1, 256),
            settings.integer("downloads", DEFAULT.downloads, 1, 64));
    settings
        .problems()
        .require(
            config.memoryBytes >= MEMORY_BYTES_MIN,
            "lake.reader.memoryBytes must be at least 64MiB");
    settings.done();
    return config;
  }
}
