package firstlight.session;

import firstlight.protocol.Time;
import java.time.Duration;

/**
 * Decides how to deal with a service that may be away: while it is, one attempt a pause goes
 * through, all others are spared, and the log hears of it once an interval. Safe for several
 * threads, since the verticles of a node share what they know.
 */
final class Outage {
  private final Time time;
  private final Duration pause;
  private final long quietNanos;
  private boolean away;
  private boolean told;
  private long nextTry;
  private long nextWord;

  /**
   * @param pause between two attempts while it is away
   * @param quiet between two lines of log about it
   */
  Outage(Time time, Duration pause, Duration quiet) {
    this.time = time;
    this.pause = pause;
    this.quietNanos = quiet.toNanos();
  }

  /** Whether to ask it now. A yes while it is away is the one attempt of this pause. */
  synchronized boolean mayTry() {
    if (!away) {
      return true;
    }
    if (time.nanos() - nextTry < 0) {
      return false;
    }
    nextTry = time.nanos() + pause.toNanos();
    return true;
  }

  /**
   * @return whether to log it
   */
  synchronized boolean failed() {
    if (!away) {
      away = true;
      // Later ones were on their way; the pause counts from one attempt to the next.
      nextTry = time.nanos() + pause.toNanos();
    }
    return mayTell();
  }

  /** Whether to log a failure now. */
  synchronized boolean mayTell() {
    if (told && time.nanos() - nextWord < 0) {
      return false;
    }
    told = true;
    nextWord = time.nanos() + quietNanos;
    return true;
  }

  /**
   * @return whether it was away until now
   */
  synchronized boolean succeeded() {
    boolean back = away;
    away = false;
    return back;
  }

  /** Between two attempts. */
  Duration pause() {
    return pause;
  }

  synchronized boolean away() {
    return away;
  }
}
