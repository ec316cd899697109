package firstlight.feedback;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Blocking work of one thread at a time, which another thread can end for good. */
final class Attempt {
  private @Nullable Thread thread;
  private boolean ended;

  /**
   * @throws InterruptedException it was ended
   */
  <T> T run(Callable<T> work) throws Exception {
    begin();
    try {
      return work.call();
    } finally {
      leave();
    }
  }

  /** Interrupts the work that runs, and refuses any that would come. */
  synchronized void end() {
    ended = true;
    if (thread != null) {
      thread.interrupt();
    }
  }

  private synchronized void begin() throws InterruptedException {
    if (ended) {
      throw new InterruptedException("it was ended");
    }
    thread = Thread.currentThread();
  }

  /** The thread goes on to other work, which nobody has interrupted. */
  private synchronized void leave() {
    thread = null;
    Thread.interrupted();
  }
}
