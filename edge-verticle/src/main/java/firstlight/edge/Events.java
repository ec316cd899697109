package firstlight.edge;

import firstlight.protocol.wire.Event;
import io.vertx.core.Future;

/** Where facts for the data lake go. Neither method ever waits or throws. */
interface Events {
  /** Hands over and goes on: nobody learns what becomes of it, but a loss is counted. */
  void publish(Event event);

  /**
   * Completes when the Event is durable. Fails, within a limit, with a {@link
   * firstlight.protocol.MeshException} of kind UNAVAILABLE that says when to try again.
   */
  Future<Void> accept(Event event);

  /** Sends what is held, within a limit, and gives everything back. */
  Future<Void> close();
}
