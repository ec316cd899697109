package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.ChatMessage;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the messages of chat completions. Text parts of a message are joined with nothing between
 * them. A developer message becomes a system message where the template does not know developers.
 */
final class ChatMessages {
  private static final Set<String> ROLES =
      Set.of("system", "developer", "user", "assistant", "tool", "function");
  private static final int PARTS_MAX = 1_024;
  private static final int CALLS_MAX = 128;
  private static final int NAME_CHARACTERS_MAX = 256;

  private final Json json;
  private final int messagesMax;

  ChatMessages(Json json, int messagesMax) {
    this.json = json;
    this.messagesMax = messagesMax;
  }

  List<ChatMessage> read(Fields body) {
    if (!body.has("messages")) {
      throw body.missing("messages");
    }
    List<ChatMessage> messages = new ArrayList<>();
    for (Fields message : body.objects("messages", messagesMax)) {
      messages.add(message(message));
    }
    body.require(!messages.isEmpty(), "messages", "must have at least one message");
    return messages;
  }

  private ChatMessage message(Fields message) {
    String role = message.requiredText("role");
    message.require(
        ROLES.contains(role), "role", "must be system, developer, user, assistant or tool");
    boolean assistant = role.equals("assistant");
    if (!assistant && !message.has("content")) {
      throw message.missing("content");
    }
    return new ChatMessage(
        role.equals("function") ? "tool" : role,
        content(message),
        assistant ? calls(message) : List.of(),
        message.text("tool_call_id", NAME_CHARACTERS_MAX).orElse(null),
        message.text("name", NAME_CHARACTERS_MAX).orElse(null));
  }

  private static String content(Fields message) {
    JsonNode content = message.any("content").orElse(null);
    if (content == null) {
      return "";
    }
    if (content.isTextual()) {
      return content.textValue();
    }
    message.require(content.isArray(), "content", "must be a string or a list of parts");
    StringBuilder text = new StringBuilder();
    for (Fields part : message.objects("content", PARTS_MAX)) {
      String type = part.requiredText("type");
      switch (type) {
        case "text" -> text.append(part.requiredText("text"));
        case "refusal" -> text.append(part.requiredText("refusal"));
        default ->
            throw MeshException.invalid(
                "%s has the type %s, but only text is accepted here."
                    .formatted(part.path(), EdgeModels.shown(type)),
                part.path());
      }
    }
    return text.toString();
  }

  private List<Map<String, Object>> calls(Fields message) {
    List<Map<String, Object>> calls = new ArrayList<>();
    for (Fields call : message.objects("tool_calls", CALLS_MAX)) {
      Fields function = call.object("function").orElseThrow(() -> call.missing("function"));
      Map<String, Object> called = new LinkedHashMap<>();
      called.put("name", function.requiredText("name"));
      called.put("arguments", arguments(function));
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("id", call.text("id", NAME_CHARACTERS_MAX).orElse(""));
      entry.put("type", "function");
      entry.put("function", called);
      calls.add(entry);
    }
    return calls;
  }

  /** As a map where they are the JSON of an object; else the text as it is. */
  private Object arguments(Fields function) {
    JsonNode arguments = function.any("arguments").orElse(Json.object());
    if (arguments instanceof ObjectNode object) {
      return json.plain(object);
    }
    function.require(arguments.isTextual(), "arguments", "must be a string");
    try {
      return json.value(arguments.textValue()) instanceof ObjectNode object
          ? json.plain(object)
          : arguments.textValue();
    } catch (MeshException e) {
      return arguments.textValue();
    }
  }
}
