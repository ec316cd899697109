package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.atomic.AtomicBoolean;

/** Somebody waits to hear that an Event is durable, and hears it once. Thread-safe. */
final class Acceptance {
  private static final long RETRY_MILLIS = 5_000;

  private final Context context;
  private final Promise<Void> promise = Promise.promise();
  private final AtomicBoolean over = new AtomicBoolean();

  /**
   * @param context where it is heard
   */
  Acceptance(Context context) {
    this.context = context;
  }

  Future<Void> future() {
    return promise.future();
  }

  void durable() {
    if (over.compareAndSet(false, true)) {
      context.runOnContext(_ -> promise.complete());
    }
  }

  void refuse() {
    if (over.compareAndSet(false, true)) {
      context.runOnContext(_ -> promise.fail(unavailable()));
    }
  }

  /** Nobody waits any more: it was answered. */
  boolean isOver() {
    return over.get();
  }

  static MeshException unavailable() {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "events_unavailable",
        "It can not be kept at the moment. Send it again, with the same id.",
        null,
        RETRY_MILLIS);
  }
}
