package firstlight.session;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Equal questions asked at the same moment share one answer, whichever event loops they are asked
 * on: safe for several threads. Whoever asks on a context hears the answer on that context.
 *
 * @param <K> the question
 * @param <V> the answer
 */
final class SingleFlight<K, V> {
  private final ConcurrentMap<K, Future<V>> flights = new ConcurrentHashMap<>();

  /**
   * @param start looks for the answer, unless somebody does already
   */
  Future<V> join(K key, Supplier<Future<V>> start) {
    Promise<V> promise = Promise.promise();
    Future<V> flight = promise.future();
    Future<V> running = flights.putIfAbsent(key, flight);
    if (running != null) {
      return heardBy(Vertx.currentContext(), running);
    }
    Future.succeededFuture()
        .compose(_ -> start.get())
        .onComplete(
            (answer, failure) -> {
              // Before it is told, so that nobody joins an answer that is old already.
              flights.remove(key, flight);
              promise.complete(answer, failure);
            });
    return heardBy(Vertx.currentContext(), flight);
  }

  /** Whoever asks from now on gets an answer that was looked for from now on. */
  void detach() {
    flights.clear();
  }

  int inFlight() {
    return flights.size();
  }

  private static <V> Future<V> heardBy(@Nullable Context asker, Future<V> flight) {
    if (asker == null || flight.isComplete()) {
      return flight;
    }
    Promise<V> heard = Promise.promise();
    flight.onComplete(
        (answer, failure) -> {
          if (Vertx.currentContext() == asker) {
            heard.complete(answer, failure);
          } else {
            asker.runOnContext(_ -> heard.complete(answer, failure));
          }
        });
    return heard.future();
  }
}
