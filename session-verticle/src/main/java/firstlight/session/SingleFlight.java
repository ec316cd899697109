package firstlight.session;

import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Equal questions asked at the same moment share one answer. Belongs to one event loop.
 *
 * @param <K> the question
 * @param <V> the answer
 */
final class SingleFlight<K, V> {
  private final Map<K, Future<V>> flights = new HashMap<>();

  Future<V> join(K key, Supplier<Future<V>> start) {
    Future<V> running = flights.get(key);
    if (running != null) {
      return running;
    }
    Future<V> flight = start.get();
    if (!flight.isComplete()) {
      flights.put(key, flight);
      flight.onComplete(_ -> flights.remove(key, flight));
    }
    return flight;
  }

  /** Whoever asks from now on gets an answer that was looked for from now on. */
  void detach() {
    flights.clear();
  }

  int inFlight() {
    return flights.size();
  }
}
