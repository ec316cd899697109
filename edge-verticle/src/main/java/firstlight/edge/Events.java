package firstlight.edge;

import io.vertx.core.Future;

/** Where facts for the data lake go. No method ever waits or throws. */
interface Events {
  /** Hands over and goes on: nobody learns what becomes of it, but a loss is counted. */
  void publish(EventDraft draft);

  /**
   * Completes on the caller's context when the Event is durable. Fails, within a limit, with a
   * {@link firstlight.protocol.MeshException} of kind UNAVAILABLE that says when to try again.
   */
  Future<Void> accept(EventDraft draft);

  /** Makes durable what is held, within a limit, and gives everything back. */
  Future<Void> close();
}
