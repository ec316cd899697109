package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.model.ChatMessage;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code system} and {@code messages} of Anthropic's messages as one conversation: each
 * tool_result becomes a message of a tool, and what the model thought earlier is left out. Texts of
 * one message are joined with nothing between them. For one request.
 */
final class MessagesConversation {
  private static final String CONTENT = "content";
  private static final int BLOCKS_MAX = 1_024;
  private static final int ID_CHARACTERS_MAX = 256;

  private final Json json;
  private final List<ChatMessage> messages = new ArrayList<>();
  private final Map<String, String> toolNames = new HashMap<>();

  private MessagesConversation(Json json) {
    this.json = json;
  }

  static List<ChatMessage> read(Fields body, Json json, int messagesMax) {
    MessagesConversation conversation = new MessagesConversation(json);
    if (body.has("system")) {
      conversation.messages.add(new ChatMessage("system", texts(body, "system")));
    }
    if (!body.has("messages")) {
      throw body.missing("messages");
    }
    List<Fields> messages = body.objects("messages", messagesMax);
    body.require(!messages.isEmpty(), "messages", "must have at least one message");
    messages.forEach(conversation::add);
    body.require(
        !messages.getLast().requiredText("role").equals("assistant"),
        "messages",
        "must not end with one of the assistant: an answer can not be begun for the model");
    return conversation.messages;
  }

  private void add(Fields message) {
    if (!message.has(CONTENT)) {
      throw message.missing(CONTENT);
    }
    switch (message.requiredText("role")) {
      case "user" -> addUser(message);
      case "assistant" -> addAssistant(message);
      case "system" -> messages.add(new ChatMessage("system", texts(message, CONTENT)));
      default -> throw message.refused("role", "must be user or assistant");
    }
  }

  private void addUser(Fields message) {
    if (isText(message, CONTENT)) {
      messages.add(new ChatMessage("user", message.requiredText(CONTENT)));
      return;
    }
    StringBuilder text = new StringBuilder();
    boolean results = false;
    for (Fields block : message.objects(CONTENT, BLOCKS_MAX)) {
      switch (block.requiredText("type")) {
        case "text" -> text.append(block.requiredText("text"));
        case "tool_result" -> {
          flushUser(text);
          messages.add(result(block));
          results = true;
        }
        default -> throw unfit(block, "only text and tool_result are accepted here");
      }
    }
    if (results) {
      flushUser(text);
    } else {
      messages.add(new ChatMessage("user", text.toString()));
    }
  }

  private void flushUser(StringBuilder text) {
    if (!text.isEmpty()) {
      messages.add(new ChatMessage("user", text.toString()));
      text.setLength(0);
    }
  }

  private ChatMessage result(Fields block) {
    String id = id(block, "tool_use_id");
    String text = block.has(CONTENT) ? texts(block, CONTENT) : "";
    boolean failed = block.flag("is_error", false);
    return new ChatMessage(
        "tool", failed ? "Error: " + text : text, List.of(), id, toolNames.get(id));
  }

  private void addAssistant(Fields message) {
    if (isText(message, CONTENT)) {
      messages.add(new ChatMessage("assistant", message.requiredText(CONTENT)));
      return;
    }
    StringBuilder text = new StringBuilder();
    List<Map<String, Object>> calls = new ArrayList<>();
    for (Fields block : message.objects(CONTENT, BLOCKS_MAX)) {
      switch (block.requiredText("type")) {
        case "text" -> text.append(block.requiredText("text"));
        case "tool_use" -> calls.add(call(block));
        case "thinking", "redacted_thinking" -> {}
        default -> throw unfit(block, "only text, tool_use and thinking are accepted here");
      }
    }
    messages.add(new ChatMessage("assistant", text.toString(), calls, null, null));
  }

  private Map<String, Object> call(Fields block) {
    String id = id(block, "id");
    String name = ToolReader.name(block);
    toolNames.put(id, name);
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", name);
    function.put(
        "arguments", block.object("input").map(input -> json.plain(input.node())).orElse(Map.of()));
    Map<String, Object> call = new LinkedHashMap<>();
    call.put("id", id);
    call.put("type", "function");
    call.put("function", function);
    return call;
  }

  private static String id(Fields block, String name) {
    return block.text(name, ID_CHARACTERS_MAX).orElseThrow(() -> block.missing(name));
  }

  private static boolean isText(Fields fields, String name) {
    JsonNode value = fields.any(name).orElse(null);
    fields.require(
        value != null && (value.isTextual() || value.isArray()),
        name,
        "must be a string or a list of blocks");
    return isText(value);
  }

  private static boolean isText(@Nullable JsonNode value) {
    return value != null && value.isTextual();
  }

  /** A string, or the texts of blocks of nothing but text. */
  private static String texts(Fields fields, String name) {
    if (isText(fields, name)) {
      return fields.requiredText(name);
    }
    StringBuilder text = new StringBuilder();
    for (Fields block : fields.objects(name, BLOCKS_MAX)) {
      if (!block.requiredText("type").equals("text")) {
        throw unfit(block, "only text is accepted here");
      }
      text.append(block.requiredText("text"));
    }
    return text.toString();
  }

  private static MeshException unfit(Fields block, String accepted) {
    return MeshException.invalid(
        "%s has the type %s, but %s."
            .formatted(block.path(), EdgeModels.shown(block.requiredText("type")), accepted),
        block.path());
  }
}
