package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Puts Items where a request only names them: those of the Responses it builds on, which are not
 * repeated, and those of any other Response of the tenant. An Item's id tells of which Response it
 * is.
 */
final class ResponseReferences {
  private static final int RESPONSES_MAX = 32;

  private final Json json;
  private final ResponseStore store;
  private final TenantId tenant;
  private final Map<String, JsonNode> found = new HashMap<>();
  private final Set<String> inHistory = new HashSet<>();

  ResponseReferences(Json json, ResponseStore store, TenantId tenant) {
    this.json = json;
    this.store = store;
    this.tenant = tenant;
  }

  /**
   * @param input Items, some of them references
   * @param history of the Response that they are for
   * @return the Items without references; fails with a {@link MeshException} that names the
   *     reference to nothing
   */
  Future<ArrayNode> resolve(ArrayNode input, ResponseHistory history) {
    if (references(input).isEmpty()) {
      return Future.succeededFuture(input);
    }
    index(history.turns());
    inHistory.addAll(found.keySet());
    // A request may refer to an Item that it brings itself.
    for (JsonNode item : input) {
      if (!isReference(item)) {
        found.putIfAbsent(item.get("id").textValue(), item);
      }
    }
    Set<ResponseId> elsewhere = elsewhere(input);
    if (elsewhere.size() > RESPONSES_MAX) {
      return Future.failedFuture(
          MeshException.invalid(
              "input refers to Items of more than %d Responses.".formatted(RESPONSES_MAX),
              "input"));
    }
    Future<Void> looked = Future.succeededFuture();
    for (ResponseId response : elsewhere) {
      looked = looked.compose(_ -> look(response));
    }
    return looked.map(_ -> replaced(input));
  }

  private Future<Void> look(ResponseId response) {
    return store
        .history(tenant, response)
        .recover(
            failure ->
                failure instanceof MeshException known && known.kind() == FailureKind.NOT_FOUND
                    ? Future.succeededFuture(List.of())
                    : Future.failedFuture(failure))
        .map(
            turns -> {
              index(turns);
              return null;
            });
  }

  private void index(List<StoredTurn> turns) {
    for (StoredTurn turn : turns) {
      for (String items : List.of(turn.input(), turn.output())) {
        for (JsonNode item : json.value(items)) {
          ((ObjectNode) item).remove(ResponseCuts.KEY);
          found.put(item.path("id").asText(), item);
        }
      }
    }
  }

  private Set<ResponseId> elsewhere(ArrayNode input) {
    Set<ResponseId> responses = new LinkedHashSet<>();
    for (String id : references(input)) {
      int from = id.indexOf('_');
      int to = id.lastIndexOf('_');
      if (!found.containsKey(id) && from >= 0 && from < to) {
        MeshException none = MeshException.invalid("There is no such Item.", "input");
        try {
          responses.add(
              ResponseErrors.id(ResponseResource.ID_PREFIX + id.substring(from + 1, to), none));
        } catch (MeshException _) {
          // Refused below, as an Item of a Response that is not there is.
        }
      }
    }
    return responses;
  }

  private ArrayNode replaced(ArrayNode input) {
    ArrayNode all = Json.array();
    for (int i = 0; i < input.size(); i++) {
      JsonNode item = input.get(i);
      String id = item.path("id").asText();
      if (!isReference(item)) {
        all.add(item);
      } else if (!inHistory.contains(id)) {
        JsonNode meant = found.get(id);
        if (meant == null) {
          String param = "input[%d].id".formatted(i);
          throw MeshException.invalid(
              "%s names %s, which is no Item.".formatted(param, EdgeModels.shown(id)), param);
        }
        all.add(meant);
      }
    }
    return all;
  }

  private static List<String> references(ArrayNode input) {
    return input
        .valueStream()
        .filter(ResponseReferences::isReference)
        .map(item -> item.get("id").textValue())
        .toList();
  }

  private static boolean isReference(JsonNode item) {
    return item.path("type").asText().equals("item_reference");
  }
}
