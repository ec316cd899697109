package firstlight.edge;

import io.vertx.core.Future;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** Bounded waits of test threads for what happens on event loops. */
final class Waiting {
  private static final int SECONDS_MAX = 10;

  private Waiting() {}

  static <T> T on(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(SECONDS_MAX, TimeUnit.SECONDS);
  }

  static <T> T forNext(BlockingQueue<T> queue) throws InterruptedException {
    T next = queue.poll(SECONDS_MAX, TimeUnit.SECONDS);
    if (next == null) {
      throw new AssertionError("nothing came within " + SECONDS_MAX + " s");
    }
    return next;
  }
}
