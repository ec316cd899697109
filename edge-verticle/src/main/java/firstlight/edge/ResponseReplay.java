package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes the events of a Response again, byte for byte: out of the Response as its client got it,
 * and of the places where its text was cut into deltas, which stand in what is kept of its Items.
 * Of a Response that is not stored yet it makes those up to a moment.
 */
final class ResponseReplay {
  private final ResponseSoFar known;
  private final ObjectNode resource;
  private final boolean whole;
  private final ResponseEvents events = new ResponseEvents();
  private final Deque<ResponseCuts.Piece> pieces = new ArrayDeque<>();
  private int index = -1;
  private @Nullable ResponseItem open;

  private ResponseReplay(ResponseSoFar known, boolean whole) {
    this.known = known;
    this.resource = known.resource();
    this.whole = whole;
  }

  /** The events up to a moment, without the Response's last one. */
  static ResponseReplay of(ResponseSoFar soFar) {
    return new ResponseReplay(soFar, false);
  }

  /**
   * All events.
   *
   * @throws MeshException of kind CONFLICT: they cannot be made again
   */
  static ResponseReplay of(Json json, StoredTurn turn) {
    boolean kept = List.of("completed", "incomplete").contains(turn.status());
    List<String> cuts = new ArrayList<>();
    for (JsonNode item : json.value(turn.output())) {
      kept &= item.has(ResponseCuts.KEY);
      cuts.add(item.path(ResponseCuts.KEY).asText());
    }
    if (!kept) {
      throw new MeshException(
          FailureKind.CONFLICT,
          "stream_not_kept",
          "The events of the response '%s' were not kept. Get it without stream."
              .formatted(turn.response()));
    }
    return new ResponseReplay(new ResponseSoFar(Json.own(turn.resource()), cuts, false), true);
  }

  /** The next events, perhaps none; empty: there are no more. */
  Optional<List<ObjectNode>> next() {
    int items = known.cuts().size();
    if (index > items) {
      return Optional.empty();
    }
    if (index < 0) {
      begin();
      index = 0;
    } else if (index == items) {
      if (!whole) {
        return Optional.empty();
      }
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
      pieces.addAll(ResponseCuts.pieces(item, known.cuts().get(index)));
    } else if (pieces.isEmpty()) {
      if (!(known.open() && index == known.cuts().size() - 1)) {
        open.end(item.get("status").textValue());
      }
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
