package firstlight.gpu;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that touches a device: it opens it, runs its Steps and closes it, since contexts
 * of GPUs are bound to a thread. One of the two places in the program that may block.
 */
final class DeviceThread {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceThread.class);
  private final ExecutorService executor;
  private final Context context;

  /**
   * @param context where the Futures complete
   */
  DeviceThread(String name, Context context) {
    this.context = context;
    this.executor =
        Executors.newSingleThreadExecutor(Thread.ofPlatform().name(name).daemon().factory());
  }

  <T> Future<T> call(Callable<T> work) {
    Promise<T> promise = Promise.promise();
    executor.execute(() -> complete(work, promise));
    return promise.future();
  }

  private <T> void complete(Callable<T> work, Promise<T> promise) {
    Handler<Void> answer;
    try {
      T result = work.call();
      answer = _ -> promise.complete(result);
    } catch (Throwable e) {
      // A lost core or an exhausted heap too: whoever waits must hear of it.
      answer = _ -> promise.fail(e);
    }
    try {
      context.runOnContext(answer);
    } catch (RejectedExecutionException e) {
      LOG.debug("Vert.x has ended: nobody waits for the device any more", e);
    }
  }

  /** What has been handed over is still done; nothing new is taken. */
  void end() {
    executor.shutdown();
  }
}
