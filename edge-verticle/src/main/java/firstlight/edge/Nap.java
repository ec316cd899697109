package firstlight.edge;

import firstlight.protocol.Time;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** How a thread of the slow path waits, and hears that it is to stop. Thread-safe. */
final class Nap {
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Time time;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean woken;
  private boolean stopping;
  private long stopNanos;

  Nap(Time time) {
    this.time = time;
  }

  /** There is something to do. */
  void wake() {
    lock.lock();
    try {
      woken = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * It is to come to an end.
   *
   * @param nanos how long it may take for that
   */
  void stop(long nanos) {
    lock.lock();
    try {
      stopping = true;
      stopNanos = time.nanos() + nanos;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Whether it is to come to an end. */
  boolean isStopping() {
    lock.lock();
    try {
      return stopping;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the time for that is over, too. */
  boolean isOver() {
    lock.lock();
    try {
      return stopping && time.nanos() - stopNanos >= 0;
    } finally {
      lock.unlock();
    }
  }

  /** Until there is something to do, or it is to stop. */
  void untilWoken() {
    untilWoken(LONGEST_NANOS);
  }

  /** The same, for so long at most. */
  void untilWoken(long nanos) {
    await(nanos, false);
  }

  /** For so long, whatever there is to do; less only if it is to stop. */
  void rest(long nanos) {
    await(nanos, true);
  }

  private void await(long nanos, boolean asleep) {
    lock.lock();
    try {
      long left = nanos;
      while (left > 0 && !stopping && (asleep || !woken)) {
        left = changed.awaitNanos(left);
      }
      if (!asleep) {
        woken = false;
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }
}
