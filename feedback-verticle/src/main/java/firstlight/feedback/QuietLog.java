package firstlight.feedback;

import firstlight.protocol.Time;
import org.slf4j.Logger;

/** A warning that repeats is written once in a while, with the number of those left out. */
final class QuietLog {
  private static final long SPAN_NANOS = 10_000_000_000L;

  private final Logger log;
  private final Time time;
  private boolean written;
  private long writtenNanos;
  private long leftOut;

  QuietLog(Logger log, Time time) {
    this.log = log;
    this.time = time;
  }

  void warn(String what, Throwable failure) {
    long now = time.nanos();
    if (written && now - writtenNanos < SPAN_NANOS) {
      leftOut++;
      return;
    }
    log.warn("{}: {} ({} like it left out)", what, reason(failure), leftOut);
    written = true;
    writtenNanos = now;
    leftOut = 0;
  }

  private static String reason(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    int end = message.indexOf('\n');
    return failure.getClass().getSimpleName()
        + ": "
        + (end < 0 ? message : message.substring(0, end));
  }
}
