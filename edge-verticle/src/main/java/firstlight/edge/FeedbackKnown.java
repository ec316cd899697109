package firstlight.edge;

import firstlight.protocol.Addresses;
import firstlight.protocol.FeedbackNoted;
import firstlight.protocol.NoteFeedback;
import io.vertx.core.Future;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import java.util.Optional;

/**
 * What the region knows of ids of feedback. Where nobody can say, a feedback is taken all the same:
 * by its event's id the lake tells a repeat.
 */
interface FeedbackKnown {
  /** Short, since a client waits for it. */
  DeliveryOptions OPTIONS = new DeliveryOptions().setSendTimeout(300);

  /** Never fails; empty when nobody can say. */
  Future<Optional<FeedbackNoted>> note(NoteFeedback note);

  /** As the session verticles know. */
  static FeedbackKnown by(EventBus bus) {
    return note ->
        bus.<FeedbackNoted>request(Addresses.SESSION, note, OPTIONS)
            .map(message -> Optional.of(message.body()))
            .otherwise(_ -> Optional.empty());
  }
}
