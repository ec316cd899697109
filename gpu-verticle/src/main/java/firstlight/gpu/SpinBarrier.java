package firstlight.gpu;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Where a fixed number of threads wait for each other, thousands of times a second. The wait is
 * mostly shorter than a system call, so they spin first; then they yield, since a core may have
 * been taken away and its thread needs another; then they sleep in short naps, so that a thread
 * that stays away costs the others no power.
 */
final class SpinBarrier {
  private static final int SPINS = 2_000;
  private static final int YIELDS = 200;
  private static final long NAP_NANOS = 50_000;
  private static final VarHandle ARRIVED;

  static {
    try {
      ARRIVED = MethodHandles.lookup().findVarHandle(SpinBarrier.class, "arrived", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int parties;
  private volatile int arrived;
  private volatile int generation;
  private volatile boolean broken;

  SpinBarrier(int parties) {
    this.parties = parties;
  }

  /**
   * Returns when all have come.
   *
   * @throws IllegalStateException a thread broke the barrier, since it will never come
   */
  void await() {
    int mine = generation;
    if ((int) ARRIVED.getAndAdd(this, 1) == parties - 1) {
      arrived = 0;
      generation = mine + 1;
    } else {
      for (int waits = 0; generation == mine && !broken; waits++) {
        pause(waits);
      }
    }
    if (broken) {
      throw new IllegalStateException("another device thread failed");
    }
  }

  /** Frees all who wait, now and later, with an exception. */
  void breakUp() {
    broken = true;
  }

  static void pause(int waits) {
    if (waits < SPINS) {
      Thread.onSpinWait();
    } else if (waits < SPINS + YIELDS) {
      Thread.yield();
    } else {
      LockSupport.parkNanos(NAP_NANOS);
    }
  }
}
