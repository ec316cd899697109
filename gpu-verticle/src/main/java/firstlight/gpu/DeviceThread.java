package firstlight.gpu;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The one thread that touches a device: it opens it, runs its Steps and closes it, since contexts
 * of GPUs are bound to a thread. One of the two places in the program that may block.
 */
final class DeviceThread {
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
    executor.execute(
        () -> {
          try {
            T result = work.call();
            context.runOnContext(_ -> promise.complete(result));
          } catch (Throwable e) {
            // A lost core or an exhausted heap too: whoever waits must hear of it.
            context.runOnContext(_ -> promise.fail(e));
          }
        });
    return promise.future();
  }

  /** What has been handed over is still done; nothing new is taken. */
  void end() {
    executor.shutdown();
  }
}
