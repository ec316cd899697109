package firstlight.edge;

import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts over all edge instances of a JVM, for gauges. Thread-safe. */
final class EdgeTotals implements Shareable {
  private static final String KEY = EdgeTotals.class.getName();

  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger generations = new AtomicInteger();

  private EdgeTotals() {}

  /** The one of that Vert.x. */
  static EdgeTotals of(Vertx vertx) {
    return vertx
        .sharedData()
        .<String, EdgeTotals>getLocalMap(KEY)
        .computeIfAbsent(KEY, _ -> new EdgeTotals());
  }

  void requests(int more) {
    requests.addAndGet(more);
  }

  int requests() {
    return requests.get();
  }

  void generations(int more) {
    generations.addAndGet(more);
  }

  int generations() {
    return generations.get();
  }
}
