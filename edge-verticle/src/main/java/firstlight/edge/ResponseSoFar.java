package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A Response at one moment, with what is needed to make its events up to then again.
 *
 * @param resource with its Items as they are, the last one perhaps unfinished
 * @param cuts where the text of each of its Items was cut: see {@link ResponseCuts}
 * @param open whether its last Item has not ended
 */
record ResponseSoFar(ObjectNode resource, List<String> cuts, boolean open) {
  private static final String RESOURCE = "resource";
  private static final String CUTS = "cuts";
  private static final String OPEN = "open";

  ResponseSoFar {
    cuts = List.copyOf(cuts);
  }

  /** The form in which it crosses the event bus. */
  ObjectNode json() {
    ObjectNode json = Json.object().put(OPEN, open);
    json.set(RESOURCE, resource);
    ArrayNode all = json.putArray(CUTS);
    cuts.forEach(all::add);
    return json;
  }

  static ResponseSoFar of(JsonNode json) {
    List<String> cuts = new ArrayList<>();
    json.get(CUTS).forEach(cut -> cuts.add(cut.textValue()));
    return new ResponseSoFar((ObjectNode) json.get(RESOURCE), cuts, json.get(OPEN).booleanValue());
  }
}
