package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.Future;

/** For a mesh without a data lake: nothing is kept, and nothing is promised. */
final class NoEvents implements Events {
  @Override
  public void publish(EventDraft draft) {
    // There is nobody to hear of it.
  }

  @Override
  public Future<Void> accept(EventDraft draft) {
    return Future.failedFuture(
        new MeshException(
            FailureKind.UNAVAILABLE,
            "events_not_configured",
            "This service has no place to keep events: edge.kafka.bootstrap is empty."));
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
