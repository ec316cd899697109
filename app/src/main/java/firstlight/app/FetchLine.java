package firstlight.app;

import firstlight.protocol.Time;
import org.jspecify.annotations.Nullable;

/** Shows on stderr how far the fetch of data files is, once it takes long. */
final class FetchLine {
  private static final long LONG_NANOS = 1_000_000_000L;
  private static final int MIB = 1 << 20;

  private final Time time;
  private @Nullable Long begin;
  private boolean shown;

  FetchLine(Time time) {
    this.time = time;
  }

  synchronized void fetched(long bytes, long ofBytes) {
    long now = time.nanos();
    if (begin == null) {
      begin = now;
    }
    if (now - begin > LONG_NANOS) {
      System.err.printf("\rfetching data files: %d of %d MiB", bytes / MIB, ofBytes / MIB);
      shown = true;
    }
  }

  synchronized void end() {
    if (shown) {
      System.err.println();
    }
  }
}
