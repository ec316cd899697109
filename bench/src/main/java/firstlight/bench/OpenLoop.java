package firstlight.bench;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Clients that come when they come, however the server does. */
final class OpenLoop {
  private final LoadClient client;
  private final Vertx vertx;

  OpenLoop(LoadClient client) {
    this.client = client;
    this.vertx = client.vertx();
  }

  /**
   * Clients that will come.
   *
   * @param arrivals milliseconds from the start
   * @param asks what each asks for, in the same order
   * @param comesAgain whether a refused client comes again after exactly the time it was told
   */
  record Wave(List<Long> arrivals, List<Ask> asks, boolean comesAgain) {
    Wave {
      arrivals = List.copyOf(arrivals);
      asks = List.copyOf(asks);
    }
  }

  /** Starts them. */
  List<Future<Visit>> start(Wave wave) {
    List<Future<Visit>> visits = new ArrayList<>(wave.arrivals.size());
    for (int i = 0; i < wave.arrivals.size(); i++) {
      Ask ask = wave.asks.get(i);
      visits.add(after(wave.arrivals.get(i)).compose(_ -> visit(ask, wave.comesAgain)));
    }
    return visits;
  }

  private Future<?> after(long millis) {
    // A timer of Vert.x takes at least a millisecond.
    return vertx.timer(Math.max(1, millis), TimeUnit.MILLISECONDS);
  }

  private Future<Visit> visit(Ask ask, boolean comesAgain) {
    return client
        .send(ask)
        .compose(
            first ->
                comesAgain && first.isRefused() && first.retryAfterMillis() >= 0
                    ? after(first.retryAfterMillis())
                        .compose(_ -> client.send(ask))
                        .map(second -> new Visit(List.of(first, second)))
                    : Future.succeededFuture(new Visit(List.of(first))));
  }
}
