package firstlight.edge;

import firstlight.protocol.Settings;

/**
 * The log of Events on the disk. All edge instances of a process share one.
 *
 * @param folder where the logs of this machine's processes lie, one folder each; empty: Events that
 *     Kafka has not got are held in memory only
 * @param bytesMax size of a log
 * @param segmentBytes size of one of its files, which are deleted as a whole
 * @param freeBytesMin space on the disk that is left alone
 * @param whenFull what goes when the log has reached its size
 */
public record SpoolConfig(
    String folder, long bytesMax, long segmentBytes, long freeBytesMin, WhenFull whenFull) {
  private static final int SEGMENTS_MIN = 4;

  /** What goes first. Feedback that was accepted never does. */
  public enum WhenFull {
    /** The oldest token by token detail, then the oldest texts, then new Events. */
    DETAIL,
    /** Whatever is oldest. */
    OLDEST,
    /** What is new: first its detail and texts, then itself. */
    NEWEST
  }

  /** Reads the section; mistakes are noted in its problems. */
  public static SpoolConfig read(Settings settings) {
    SpoolConfig config =
        new SpoolConfig(
            settings.text("folder", "data/event-spool"),
            settings.bytes("bytesMax", 1L << 30),
            settings.bytes("segmentBytes", 8L << 20),
            settings.bytes("freeBytesMin", 256L << 20),
            settings.choice("whenFull", WhenFull.DETAIL));
    settings
        .problems()
        .require(
            config.segmentBytes >= 16 << 10 && config.segmentBytes <= 1 << 30,
            "edge.spool.segmentBytes must be from 16KiB to 1GiB");
    settings
        .problems()
        .require(
            config.bytesMax / SEGMENTS_MIN >= config.segmentBytes,
            "edge.spool.bytesMax must be at least %d times edge.spool.segmentBytes"
                .formatted(SEGMENTS_MIN));
    settings.done();
    return config;
  }
}
