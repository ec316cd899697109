package firstlight.edge;

import java.util.Locale;

/**
 * The three parts of the spool, so that what matters least can be deleted first. Each has files of
 * its own.
 */
enum SpoolLane {
  /** Events without what stands in the other two. */
  FACTS,
  /** Their texts. */
  TEXT,
  /** What there is token by token. */
  TRACE;

  byte code() {
    return (byte) (ordinal() + 1);
  }

  /** For file names and metrics. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
