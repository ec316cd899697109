package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.Usage;
import java.util.List;

/** Makes what is kept of a Response that has ended. */
final class ResponseRecord {
  private final Json json;
  private final TenantId tenant;
  private final ResponseRequest request;
  private final ResponseHistory history;
  private final ArrayNode input;

  /**
   * @param history that it builds on
   * @param input its new Items
   */
  ResponseRecord(
      Json json,
      TenantId tenant,
      ResponseRequest request,
      ResponseHistory history,
      ArrayNode input) {
    this.json = json;
    this.tenant = tenant;
    this.request = request;
    this.history = history;
    this.input = input;
  }

  /**
   * Items that only a connection remembered become a part of the input of a stored turn, so that it
   * stands on its own.
   *
   * @param created Unix time, ms
   * @param cuts of each of its Items
   * @param outcome the Response as it is after its end
   * @throws IllegalArgumentException it is too long
   */
  StoredTurn turn(long created, List<String> cuts, ObjectNode outcome, Usage usage) {
    ArrayNode all = Json.array();
    ResponseId parent = request.previous();
    if (request.store()) {
      for (StoredTurn turn : history.kept()) {
        all.addAll(items(turn.input())).addAll(shown(items(turn.output())));
      }
      // The turns of a conversation are no parents: they go with it, and the Response stays.
      parent =
          parent == null || history.stored().isEmpty()
              ? null
              : history.stored().getLast().response();
    }
    return new StoredTurn(
        request.id(),
        tenant,
        parent,
        request.model(),
        created,
        outcome.get("status").textValue(),
        Json.text(all.addAll(input)),
        Json.text(kept((ArrayNode) outcome.get("output"), cuts)),
        request.store() ? Json.text(outcome) : "",
        usage);
  }

  private ArrayNode items(String stored) {
    return (ArrayNode) json.value(stored);
  }

  /** What is kept of the Items of an answer, as they are shown as input. */
  private static ArrayNode shown(ArrayNode items) {
    items.forEach(item -> ((ObjectNode) item).remove(ResponseCuts.KEY));
    return items;
  }

  // Log-probabilities are for whoever reads the Response; to go on from it they would be ballast.
  private static ArrayNode kept(ArrayNode items, List<String> cuts) {
    ArrayNode all = items.deepCopy();
    for (int i = 0; i < all.size(); i++) {
      ObjectNode item = (ObjectNode) all.get(i);
      item.path("content").forEach(part -> ((ObjectNode) part).remove("logprobs"));
      if (i < cuts.size()) {
        item.put(ResponseCuts.KEY, cuts.get(i));
      }
    }
    return all;
  }
}
