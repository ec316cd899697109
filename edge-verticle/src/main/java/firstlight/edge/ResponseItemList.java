package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import io.vertx.core.MultiMap;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A page of Items in the shape of OpenAI's lists. */
final class ResponseItemList {
  private static final int LIMIT_DEFAULT = 20;
  private static final int LIMIT_MAX = 100;

  private ResponseItemList() {}

  /**
   * @param items oldest first
   * @param query {@code order} (desc, the default, or asc), {@code limit}, {@code after} an id
   */
  static ObjectNode page(JsonNode items, MultiMap query) {
    List<JsonNode> ordered = new ArrayList<>();
    items.forEach(ordered::add);
    if (!isAscending(query.get("order"))) {
      Collections.reverse(ordered);
    }
    int from = firstAfter(ordered, query.get("after"));
    int to = Math.min(ordered.size(), from + limit(query.get("limit")));
    ObjectNode page = Json.object().put("object", "list");
    ArrayNode shown = page.putArray("data").addAll(ordered.subList(from, to));
    page.set("first_id", shown.path(0).get("id"));
    page.set("last_id", shown.path(shown.size() - 1).get("id"));
    return page.put("has_more", to < ordered.size());
  }

  private static boolean isAscending(@Nullable String order) {
    if (order != null && !order.equals("asc") && !order.equals("desc")) {
      throw MeshException.invalid("order must be asc or desc.", "order");
    }
    return "asc".equals(order);
  }

  private static int limit(@Nullable String limit) {
    if (limit == null) {
      return LIMIT_DEFAULT;
    }
    try {
      int asked = Integer.parseInt(limit);
      if (asked >= 1 && asked <= LIMIT_MAX) {
        return asked;
      }
    } catch (NumberFormatException _) {
      // Refused below, as a number outside the range is.
    }
    throw MeshException.invalid("limit must be between 1 and %d.".formatted(LIMIT_MAX), "limit");
  }

  private static int firstAfter(List<JsonNode> items, @Nullable String id) {
    if (id == null) {
      return 0;
    }
    for (int i = 0; i < items.size(); i++) {
      if (id.equals(items.get(i).path("id").asText())) {
        return i + 1;
      }
    }
    throw MeshException.invalid("after names no Item of this list.", "after");
  }
}
