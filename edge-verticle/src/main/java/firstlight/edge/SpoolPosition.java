package firstlight.edge;

/**
 * A place in the spool as one number, which grows: a segment's number and an offset in it. It is
 * what Kafka keeps as an offset.
 */
final class SpoolPosition {
  /** There is nothing to point at. */
  static final long NONE = -1;

  /** There was something, but it could not be kept. */
  static final long GONE = -2;

  private static final int OFFSET_BITS = 32;
  private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;

  private SpoolPosition() {}

  static long of(long segment, long offset) {
    return segment << OFFSET_BITS | offset;
  }

  static long segment(long position) {
    return position >> OFFSET_BITS;
  }

  static long offset(long position) {
    return position & OFFSET_MASK;
  }
}
