package firstlight.edge;

import io.vertx.core.Future;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Bounded waits of test threads for what happens on event loops. */
final class Waiting {
  private static final int SECONDS_MAX = 10;

  private Waiting() {}

  static <T> T on(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(SECONDS_MAX, TimeUnit.SECONDS);
  }

  /** Looks again and again, without a pause, since each look is a request. */
  static void until(Callable<Boolean> condition) throws Exception {
    long start = System.nanoTime();
    while (!condition.call()) {
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(2 * SECONDS_MAX)) {
        throw new AssertionError("it did not come about within " + 2 * SECONDS_MAX + " s");
      }
    }
  }

  static <T> T forNext(BlockingQueue<T> queue) throws InterruptedException {
    T next = queue.poll(SECONDS_MAX, TimeUnit.SECONDS);
    if (next == null) {
      throw new AssertionError("nothing came within " + SECONDS_MAX + " s");
    }
    return next;
  }
}
