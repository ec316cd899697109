package firstlight.edge;

import firstlight.protocol.wire.Event;
import java.util.List;

/**
 * What an Event will be made of. It is handed from an event loop to another thread, which makes the
 * Event: so it holds only what does not change any more.
 */
interface EventDraft {
  /** What may be given up for what, when there is no room for all: the last one goes first. */
  enum Importance {
    /** A client's word, which it may wait for. */
    FEEDBACK,
    /** A finished Response: what it cost. */
    USAGE,
    /** A tool call, an error, a refusal. */
    FACT;

    static Importance of(Event event) {
      return switch (event.getBodyCase()) {
        case FEEDBACK -> FEEDBACK;
        case RESPONSE -> USAGE;
        case TOOL_CALL, ERROR, REFUSAL, BODY_NOT_SET -> FACT;
      };
    }
  }

  Importance importance();

  /** About how many bytes it holds in memory until it is built; cheap to ask. */
  int weight();

  /**
   * Makes the Events, the one that the importance is of first: called once, on a thread that may
   * take its time.
   */
  List<Event> build();
}
