package firstlight.edge;

import firstlight.protocol.wire.Event;

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

  /** Makes the Event: called once, on a thread that may take its time. */
  Event build();

  /** For an Event that is there already. */
  static EventDraft of(Event event) {
    return new Built(Importance.of(event), event.getSerializedSize(), event);
  }

  /** An Event that is there already. */
  record Built(Importance importance, int weight, Event event) implements EventDraft {
    @Override
    public Event build() {
      return event;
    }
  }
}
