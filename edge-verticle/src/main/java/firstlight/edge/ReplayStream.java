package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Optional;

/** Sends the events of a stored Response again, as fast as the client reads. */
final class ReplayStream implements TurnHandle {
  private final ResponseReplay replay;
  private final SseStream stream;
  private final long after;
  private boolean paused;
  private boolean over;

  /**
   * @param after events up to this number are left out
   */
  ReplayStream(EdgeParts parts, RoutingContext context, ResponseReplay replay, long after) {
    this.replay = replay;
    this.after = after;
    this.stream = new SseStream(parts.vertx(), context.response(), parts.config(), this);
  }

  /** Sends what can be sent. */
  void next() {
    while (!paused && !over) {
      Optional<List<ObjectNode>> events = replay.next();
      if (events.isEmpty()) {
        over = true;
        stream.done();
        return;
      }
      for (ObjectNode event : events.get()) {
        if (event.get("sequence_number").longValue() > after) {
          stream.send(event.get("type").textValue(), event);
        }
      }
    }
  }

  @Override
  public void pause() {
    paused = true;
  }

  @Override
  public void resume() {
    paused = false;
    next();
  }

  @Override
  public void cancel() {
    over = true;
  }
}
