package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/** The events of one Response as they are made: each gets the next number. */
final class ResponseEvents {
  private List<ObjectNode> made = new ArrayList<>();
  private long nextNumber;

  /** One more event, for the caller to fill. */
  ObjectNode add(String type) {
    ObjectNode event = Json.object().put("type", type).put("sequence_number", nextNumber++);
    made.add(event);
    return event;
  }

  /** As {@link #add(String)}, with one field. */
  void add(String type, String name, JsonNode value) {
    add(type).set(name, value);
  }

  /** What was made since the last call, in order. */
  List<ObjectNode> take() {
    List<ObjectNode> taken = made;
    made = new ArrayList<>();
    return taken;
  }
}
