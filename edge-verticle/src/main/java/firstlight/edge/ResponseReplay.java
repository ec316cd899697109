package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes the events of a stored Response again, byte for byte: out of the Response as its client got
 * it, and of the places where its text was cut into deltas, which stand in what is kept of its
 * Items.
 */
final class ResponseReplay {
  private final ObjectNode resource;
  private final ArrayNode kept;
  private final ResponseEvents events = new ResponseEvents();
  private final Deque<ResponseCuts.Piece> pieces = new ArrayDeque<>();
  private int index = -1;
  private @Nullable ResponseItem open;

  /**
   * @throws MeshException of kind CONFLICT: its events cannot be made again
   */
  ResponseReplay(Json json, StoredTurn turn) {
    this.resource = (ObjectNode) json.value(turn.resource());
    this.kept = (ArrayNode) json.value(turn.output());
    boolean whole = List.of("completed", "incomplete").contains(turn.status());
    for (JsonNode item : kept) {
      whole &= item.has(ResponseCuts.KEY);
    }
    if (!whole) {
      throw new MeshException(
          FailureKind.CONFLICT,
          "stream_not_kept",
          "The events of the response '%s' were not kept. Get it without stream."
              .formatted(turn.response()));
    }
  }

  /** The next events, at least one; empty: there are no more. */
  Optional<List<ObjectNode>> next() {
    if (index > kept.size()) {
      return Optional.empty();
    }
    if (index < 0) {
      begin();
      index = 0;
    } else if (index == kept.size()) {
      events.add("response." + resource.get("status").textValue(), "response", resource);
      index++;
    } else {
      grow(resource.get("output").get(index));
    }
    return Optional.of(events.take());
  }

  private void begin() {
    ObjectNode begun = resource.deepCopy();
    begun
        .put("status", "in_progress")
        .putNull("completed_at")
        .putNull("incomplete_details")
        .putNull("usage")
        .putArray("output");
    events.add("response.created", "response", begun);
    events.add("response.in_progress", "response", begun);
  }

  private void grow(JsonNode item) {
    if (open == null) {
      open = item(item);
      open.begin();
      pieces.addAll(ResponseCuts.pieces(item, kept.get(index).get(ResponseCuts.KEY).textValue()));
    } else if (pieces.isEmpty()) {
      open.end(item.get("status").textValue());
      open = null;
      index++;
    } else {
      open.add(pieces.remove());
    }
  }

  private ResponseItem item(JsonNode item) {
    ResponseItem.Place place =
        new ResponseItem.Place(events, new ResponseId(resource.get("id").textValue()), index);
    return switch (item.get("type").textValue()) {
      case "message" -> new ResponseItem.Message(place);
      case "reasoning" -> new ResponseItem.Reasoning(place);
      case "function_call" -> new ResponseItem.Call(place, item.get("name").textValue());
      default -> throw new IllegalStateException("no answer has such an Item");
    };
  }
}
