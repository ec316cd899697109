package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.IdSource;
import firstlight.protocol.StoredConversation;
import firstlight.protocol.StoredTurn;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The Items of a conversation at one moment.
 *
 * @param turns those from its head back, oldest first, without the Items that were removed
 */
record ConversationItems(StoredConversation conversation, List<StoredTurn> turns) {
  private static final Pattern SAFE_ID = Pattern.compile("[A-Za-z0-9._:-]{1,128}");
  private static final Pattern PREFIX = Pattern.compile("[a-z]{1,5}_");

  ConversationItems {
    turns = List.copyOf(turns);
  }

  /**
   * @param turns as they are stored, oldest first
   */
  static ConversationItems of(StoredConversation conversation, List<StoredTurn> turns, Json json) {
    Set<String> removed = Set.copyOf(conversation.removed());
    List<StoredTurn> shown =
        removed.isEmpty()
            ? turns
            : turns.stream().map(turn -> without(removed, turn, json)).toList();
    return new ConversationItems(conversation, shown);
  }

  /** Oldest first. */
  ArrayNode all(Json json) {
    ArrayNode items = Json.array();
    for (StoredTurn turn : turns) {
      items.addAll(list(turn.input(), json));
      for (JsonNode item : list(turn.output(), json)) {
        ((ObjectNode) item).remove(ResponseCuts.KEY);
        items.add(item);
      }
    }
    return items;
  }

  @Nullable JsonNode find(String id, Json json) {
    for (JsonNode item : all(json)) {
      if (id(item).equals(id)) {
        return item;
      }
    }
    return null;
  }

  /**
   * The Items, to be added to it, each with an id that is safe in a path and that no other Item of
   * it has or had: a client may send again what it got, and one that it removed must not stay
   * hidden.
   */
  ArrayNode fresh(ArrayNode items, Json json, IdSource ids) {
    Set<String> taken = new HashSet<>(conversation.removed());
    all(json).forEach(item -> taken.add(id(item)));
    ArrayNode fresh = Json.array();
    for (JsonNode item : items) {
      ObjectNode one = item.deepCopy();
      if (!SAFE_ID.matcher(id(item)).matches() || !taken.add(id(item))) {
        one.put("id", ids.next(prefix(id(item))));
      }
      fresh.add(one);
    }
    return fresh;
  }

  private static StoredTurn without(Set<String> removed, StoredTurn turn, Json json) {
    return new StoredTurn(
        turn.response(),
        turn.tenant(),
        turn.parent(),
        turn.model(),
        turn.created(),
        turn.status(),
        without(removed, list(turn.input(), json)),
        without(removed, list(turn.output(), json)),
        turn.resource(),
        turn.usage());
  }

  private static String without(Set<String> removed, ArrayNode items) {
    ArrayNode shown = Json.array();
    for (JsonNode item : items) {
      if (!removed.contains(id(item))) {
        shown.add(item);
      }
    }
    return Json.text(shown);
  }

  private static ArrayNode list(String stored, Json json) {
    if (json.value(stored) instanceof ArrayNode items) {
      return items;
    }
    throw new IllegalStateException("Items of a stored turn are not a list");
  }

  private static String prefix(String id) {
    Matcher prefix = PREFIX.matcher(id);
    return prefix.lookingAt() ? prefix.group() : "item_";
  }

  private static String id(JsonNode item) {
    return item.path("id").asText();
  }
}
