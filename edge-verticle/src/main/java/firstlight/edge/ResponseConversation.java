package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.ConversationId;
import firstlight.protocol.IdSource;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import org.jspecify.annotations.Nullable;

/** The field {@code conversation} of a Response: the Items it builds on, and adds its own to. */
final class ResponseConversation {
  private static final String FIELD = "conversation";
  private static final String NO_ITEMS = "[]";

  private ResponseConversation() {}

  /**
   * A string, or an object with an id; null where there is none.
   *
   * @throws firstlight.protocol.MeshException it is neither, or no conversation can have the id
   */
  static @Nullable ConversationId read(Fields fields) {
    JsonNode value = fields.any(FIELD).orElse(null);
    if (value == null) {
      return null;
    }
    fields.require(
        value.isTextual() || value.isObject(), FIELD, "must be a string or an object with an id");
    String id =
        value.isTextual()
            ? value.textValue()
            : fields.object(FIELD).orElseThrow().requiredText("id");
    return ConversationStore.id(id, FIELD);
  }

  /**
   * Refuses what does not go together with a conversation, and repeats it in the Response.
   *
   * @throws firstlight.protocol.MeshException of kind INVALID_REQUEST
   */
  static void check(@Nullable ConversationId conversation, Fields fields, ObjectNode echo) {
    if (conversation == null) {
      return;
    }
    fields.require(
        echo.get("previous_response_id").isNull(),
        FIELD,
        "cannot be together with previous_response_id: send one of them");
    fields.require(
        echo.get("store").booleanValue(),
        FIELD,
        "gets the Items of the response, so store must not be false: leave store out, or send the"
            + " conversation's Items as input");
    echo.putObject(FIELD).put("id", conversation.value());
  }

  /** The conversations, with failures that name the field. */
  static ConversationStore store(ResponseStore store, Json json) {
    return new ConversationStore(store, json, FIELD);
  }

  /** What the turn adds to the request's conversation; null: nothing, or there is none. */
  static @Nullable ConversationAppend append(
      ResponseRequest request, StoredTurn turn, IdSource ids) {
    ConversationId conversation = request.conversation();
    boolean empty = turn.input().equals(NO_ITEMS) && turn.output().equals(NO_ITEMS);
    return conversation == null || empty
        ? null
        : new ConversationAppend(
            conversation, new ResponseId(ids.next(ConversationsRoute.TURN_PREFIX)));
  }
}
