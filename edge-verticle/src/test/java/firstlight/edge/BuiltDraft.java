package firstlight.edge;

import firstlight.protocol.wire.Event;
import java.util.List;

/** An Event that is there already. */
record BuiltDraft(Importance importance, int weight, Event event) implements EventDraft {
  static EventDraft of(Event event) {
    return new BuiltDraft(Importance.of(event), event.getSerializedSize(), event);
  }

  @Override
  public List<Event> build() {
    return List.of(event);
  }
}
