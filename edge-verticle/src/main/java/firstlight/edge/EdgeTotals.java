package firstlight.edge;

import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Counts over all edge instances of a JVM, for gauges. Thread-safe. */
final class EdgeTotals implements Shareable {
  private static final String KEY = EdgeTotals.class.getName();

  private final Map<Count, AtomicLong> counts = new EnumMap<>(Count.class);

  /** What is there now and will be given back. */
  enum Count {
    REQUESTS("firstlight.edge.requests.running", "Requests at work"),
    GENERATIONS("firstlight.edge.generations", "Generations at work"),
    CONNECTIONS("firstlight.edge.connections", "Connections open, without WebSockets"),
    WEB_SOCKETS("firstlight.edge.websockets", "WebSockets open"),
    BODY_BYTES("firstlight.edge.body.bytes", "Bytes held of bodies that are being read");

    private final String gauge;
    private final String description;

    Count(String gauge, String description) {
      this.gauge = gauge;
      this.description = description;
    }

    String gauge() {
      return gauge;
    }

    String description() {
      return description;
    }
  }

  private EdgeTotals() {
    for (Count count : Count.values()) {
      counts.put(count, new AtomicLong());
    }
  }

  /** The one of that Vert.x. */
  static EdgeTotals of(Vertx vertx) {
    return vertx
        .sharedData()
        .<String, EdgeTotals>getLocalMap(KEY)
        .computeIfAbsent(KEY, _ -> new EdgeTotals());
  }

  void add(Count count, long more) {
    counts.get(count).addAndGet(more);
  }

  long now(Count count) {
    return counts.get(count).get();
  }
}
