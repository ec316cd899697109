package firstlight.gpu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs one function on a fixed number of threads at once: the caller's, and others that belong to
 * the device. Between two runs the others spin for a moment and then sleep. A run ends when its
 * work is done, even if one of the others never came: see {@link Turn}.
 *
 * <p>A run that fails on one thread fails on all, and the threads are of no use afterwards, since
 * nobody can say what state the others left.
 */
final class DeviceThreads implements AutoCloseable {
  /** The next Step usually follows at once, so it is worth waiting awake for a moment. */
  private static final int IDLE_SPINS = 20_000;

  private final int parties;
  private final List<Worker> workers = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile @Nullable Run current;
  private volatile boolean closed;

  /** A piece of work and the threads' progress in it. */
  private record Run(Consumer<Turn> work, Turn.Run progress) {}

  DeviceThreads(String name, int parties) {
    this.parties = parties;
    for (int i = 1; i < parties; i++) {
      Worker worker = new Worker(name + "-" + i, i);
      workers.add(worker);
      worker.start();
    }
  }

  /**
   * Returns when all phases of the work are done.
   *
   * @param phases at least as many as the work has
   * @throws IllegalStateException it failed; the cause is the first failure
   */
  void run(int phases, Consumer<Turn> work) {
    if (closed || failure.get() != null) {
      throw new IllegalStateException("the device threads have ended", failure.get());
    }
    Run run = new Run(work, new Turn.Run(parties, phases));
    current = run;
    workers.forEach(Worker::wake);
    perform(run, 0);
    Throwable failed = failure.get();
    if (failed != null) {
      throw new IllegalStateException("a device thread failed", failed);
    }
  }

  private void perform(Run run, int thread) {
    try {
      run.work.accept(new Turn(run.progress, thread));
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
      run.progress.breakUp();
    }
  }

  @Override
  public void close() {
    closed = true;
    workers.forEach(LockSupport::unpark);
  }

  private final class Worker extends Thread {
    private final int number;
    private volatile boolean asleep;

    Worker(String name, int number) {
      super(name);
      this.number = number;
      setDaemon(true);
    }

    void wake() {
      if (asleep) {
        LockSupport.unpark(this);
      }
    }

    @Override
    public void run() {
      Run last = null;
      while (!closed) {
        Run next = await(last);
        if (next != null && next != last) {
          perform(next, number);
        }
        last = next;
      }
    }

    /** Sleeps until there is another run: the flag is set before the last look at it. */
    private @Nullable Run await(@Nullable Run last) {
      for (int waits = 0; current == last && !closed; waits++) {
        if (waits < IDLE_SPINS) {
          Thread.onSpinWait();
        } else {
          asleep = true;
          if (current == last && !closed) {
            LockSupport.park(this);
          }
          asleep = false;
        }
      }
      return current;
    }
  }
}
