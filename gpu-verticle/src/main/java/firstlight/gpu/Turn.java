package firstlight.gpu;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * One thread's way through a piece of work that all do together, phase by phase. A phase is cut
 * into shares, which the threads take as they come; it is over when all its shares are done. So the
 * threads do not wait for one another but for the work: one whose core was taken away holds up no
 * more than the share it was at, and the others do the rest without it.
 *
 * <p>All threads must go through the same phases in the same order. A thread that comes late finds
 * nothing left to do and catches up.
 */
final class Turn {
  private static final int SPINS = 2_000;
  private static final int YIELDS = 200;
  private static final long NAP_NANOS = 50_000;
  private static final int SHARES_A_THREAD = 4;

  private final Run run;
  private final int thread;
  private int phase;

  Turn(Run run, int thread) {
    this.run = run;
    this.thread = thread;
  }

  /** What the threads of one run have in common. */
  static final class Run {
    private final int shares;
    private final AtomicIntegerArray taken;
    private final AtomicIntegerArray done;
    private volatile boolean broken;

    /**
     * @param phases at least as many as there will be
     */
    Run(int threads, int phases) {
      shares = threads == 1 ? 1 : threads * SHARES_A_THREAD;
      taken = new AtomicIntegerArray(phases);
      done = new AtomicIntegerArray(phases);
    }

    /** Frees all who wait, now and later, with an exception. */
    void breakUp() {
      broken = true;
    }
  }

  /** Counted from 0: for what each thread has of its own. */
  int thread() {
    return thread;
  }

  /**
   * Returns when the phase is done, by this thread and others.
   *
   * @throws IllegalStateException another thread failed, so that it never will be
   */
  void together(Consumer<Share> work) {
    int part;
    while (!run.broken && (part = run.taken.getAndIncrement(phase)) < run.shares) {
      work.accept(new Share(part, run.shares));
      run.done.getAndIncrement(phase);
    }
    for (int waits = 0; run.done.get(phase) < run.shares; waits++) {
      if (run.broken) {
        throw new IllegalStateException("another device thread failed");
      }
      pause(waits);
    }
    phase++;
  }

  /**
   * The wait is mostly shorter than a system call, so it begins with spinning; then the core is
   * offered to others, who may need it to finish their share; then the thread naps.
   */
  private static void pause(int waits) {
    if (waits < SPINS) {
      Thread.onSpinWait();
    } else if (waits < SPINS + YIELDS) {
      Thread.yield();
    } else {
      LockSupport.parkNanos(NAP_NANOS);
    }
  }
}
