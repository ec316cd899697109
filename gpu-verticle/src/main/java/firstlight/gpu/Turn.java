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

  /** Ints between two counters, so that no two are in one cache line or its neighbour. */
  private static final int APART = 32;

  private static final Runnable NOTHING = () -> {};

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

    /** Two for each phase: shares taken and shares done. */
    private final AtomicIntegerArray counters;

    private volatile boolean broken;

    /**
     * @param phases at least as many as there will be
     */
    Run(int threads, int phases) {
      shares = threads == 1 ? 1 : threads * SHARES_A_THREAD;
      counters = new AtomicIntegerArray((2 * phases + 1) * APART);
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
   * As many shares as are good where they take alike: some for each thread, so that one whose core
   * was taken away leaves most of its part to others.
   */
  int shares() {
    return run.shares;
  }

  /** The phase's work is dealt out in {@link #shares}. */
  void together(Consumer<Share> work) {
    together(run.shares, NOTHING, work);
  }

  /** The phase's work is dealt out in so many shares, alike on all threads. */
  void together(int shares, Consumer<Share> work) {
    together(shares, NOTHING, work);
  }

  /**
   * Returns when the phase is done, by this thread and others.
   *
   * @param shares alike on all threads
   * @param before is run by each thread that gets a share, before its first one, and while nobody
   *     can be past this phase
   * @throws IllegalStateException another thread failed, so that it never will be
   */
  void together(int shares, Runnable before, Consumer<Share> work) {
    int taken = (2 * phase + 1) * APART;
    int done = taken + APART;
    int mine = 0;
    int part;
    while (!run.broken && (part = run.counters.getAndIncrement(taken)) < shares) {
      if (mine++ == 0) {
        before.run();
      }
      work.accept(new Share(part, shares));
    }
    if (mine > 0) {
      run.counters.getAndAdd(done, mine);
    }
    for (int waits = 0; run.counters.get(done) < shares; waits++) {
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
