package firstlight.edge;

import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;

/**
 * Events by way of the process's {@link EventLine} to Kafka. Any thread may use it; none ever waits
 * for the disk or for Kafka.
 */
final class SpoolEvents implements Events {
  private final Vertx vertx;
  private final EventLine line;
  private final DraftQueue queue;
  private @Nullable Future<Void> closed;

  SpoolEvents(Vertx vertx, EventsConfig config, Time time, IdSource ids, MeterRegistry registry) {
    this.vertx = vertx;
    line = EventLine.join(vertx, config, time, ids, registry);
    queue = line.queue();
  }

  @Override
  public void publish(EventDraft draft) {
    if (!queue.offer(draft, null)) {
      line.metrics().lost(draft.importance(), reason());
    }
  }

  @Override
  public Future<Void> accept(EventDraft draft) {
    Acceptance acceptance = new Acceptance(vertx.getOrCreateContext());
    if (!queue.offer(draft, acceptance)) {
      line.metrics().lost(draft.importance(), reason());
      return Future.failedFuture(Acceptance.unavailable());
    }
    long limit = line.config().acceptLimit().toMillis();
    long timer = vertx.setTimer(limit, _ -> acceptance.refuse());
    return acceptance.future().onComplete(_ -> vertx.cancelTimer(timer));
  }

  @Override
  public synchronized Future<Void> close() {
    Future<Void> before = closed;
    if (before == null) {
      before = line.leave(vertx);
      closed = before;
    }
    return before;
  }

  private String reason() {
    return queue.isClosed() ? "closed" : "overflow";
  }
}
