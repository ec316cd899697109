package firstlight.gpu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs one function on a fixed number of threads at once: the caller's, and others that belong to
 * the device. Between two runs the others spin for a moment and then sleep.
 *
 * <p>A run that fails on one thread fails on all, and the threads are of no use afterwards: with
 * one of them lost, nobody can say what state the others left.
 */
final class DeviceThreads implements AutoCloseable {
  /** The next Step usually follows at once, so it is worth waiting awake for a moment. */
  private static final int IDLE_SPINS = 20_000;

  private final int parties;
  private final SpinBarrier barrier;
  private final List<Worker> workers = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private @Nullable Work work;
  private volatile int run;
  private volatile boolean closed;

  /** What all threads do together. */
  interface Work {
    void run(Turn turn);
  }

  DeviceThreads(String name, int parties) {
    this.parties = parties;
    this.barrier = new SpinBarrier(parties);
    for (int i = 1; i < parties; i++) {
      Worker worker = new Worker(name + "-" + i, new Share(i, parties));
      workers.add(worker);
      worker.start();
    }
  }

  int count() {
    return parties;
  }

  /**
   * Returns when the work is done on all threads.
   *
   * @throws IllegalStateException it failed; the cause is the first failure
   */
  void run(Work next) {
    if (closed || failure.get() != null) {
      throw new IllegalStateException("the device threads have ended", failure.get());
    }
    work = next;
    run = run + 1;
    workers.forEach(Worker::wake);
    perform(next, new Share(0, parties));
    Throwable failed = failure.get();
    if (failed != null) {
      throw new IllegalStateException("a device thread failed", failed);
    }
  }

  /** The last barrier makes everything that any thread wrote visible to the caller. */
  private void perform(Work next, Share share) {
    try {
      next.run(new Turn(share, barrier));
      barrier.await();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
      barrier.breakUp();
    }
  }

  @Override
  public void close() {
    closed = true;
    workers.forEach(LockSupport::unpark);
  }

  private final class Worker extends Thread {
    private final Share share;
    private volatile boolean asleep;

    Worker(String name, Share share) {
      super(name);
      this.share = share;
      setDaemon(true);
    }

    void wake() {
      if (asleep) {
        LockSupport.unpark(this);
      }
    }

    @Override
    public void run() {
      int done = 0;
      while (awaitRun(done)) {
        done++;
        Work next = work;
        if (next != null) {
          perform(next, share);
        }
      }
    }

    /** Sleeps until told: the flag is set before the last look, so no wake-up is lost. */
    private boolean awaitRun(int done) {
      int waits = 0;
      while (DeviceThreads.this.run == done && !closed) {
        if (waits < IDLE_SPINS) {
          waits++;
          Thread.onSpinWait();
        } else {
          asleep = true;
          if (DeviceThreads.this.run == done && !closed) {
            LockSupport.park(this);
          }
          asleep = false;
        }
      }
      return !closed;
    }
  }
}
