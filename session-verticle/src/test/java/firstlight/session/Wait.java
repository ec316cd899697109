package firstlight.session;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Lets the test's own thread wait for the event loop. */
final class Wait {
  private static final long LIMIT_SECONDS = 20;

  private Wait() {}

  /** What the future succeeds with. */
  static <T> T result(Future<T> future) {
    return future
        .toCompletionStage()
        .toCompletableFuture()
        .orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS)
        .join();
  }

  /** What the future fails with. */
  static Throwable failure(Future<?> future) {
    try {
      Object result = result(future);
      throw new AssertionError("it succeeded, with " + result);
    } catch (CompletionException e) {
      return e.getCause();
    }
  }

  /** Asks again and again until the answer is yes. */
  static void until(Vertx vertx, Duration limit, Supplier<Future<Boolean>> question) {
    Promise<Void> yes = Promise.promise();
    ask(vertx, question, yes);
    try {
      result(yes.future().timeout(limit.toMillis(), TimeUnit.MILLISECONDS));
    } catch (CompletionException e) {
      throw new AssertionError("it did not come true within " + limit, e);
    } finally {
      yes.tryComplete();
    }
  }

  private static void ask(Vertx vertx, Supplier<Future<Boolean>> question, Promise<Void> yes) {
    question
        .get()
        .onComplete(
            answer -> {
              if (answer.succeeded() && answer.result()) {
                yes.tryComplete();
              } else if (!yes.future().isComplete()) {
                vertx.setTimer(20, _ -> ask(vertx, question, yes));
              }
            });
  }
}
