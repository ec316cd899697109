package firstlight.edge;

import firstlight.protocol.MeshException;
import firstlight.protocol.wire.Event;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes feedback, or fails as it is told. */
final class FakeEvents implements Events {
  final List<Event> accepted = new ArrayList<>();
  final List<Event> published = new ArrayList<>();
  @Nullable MeshException failure;
  @Nullable Promise<Void> pending;

  @Override
  public void publish(EventDraft draft) {
    published.addAll(draft.build());
  }

  @Override
  public Future<Void> accept(EventDraft draft) {
    if (failure != null) {
      return Future.failedFuture(failure);
    }
    accepted.addAll(draft.build());
    return pending == null ? Future.succeededFuture() : pending.future();
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
