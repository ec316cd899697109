package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.ChatMessage;
import firstlight.model.Tool;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes the conversation that a chat template renders out of Items: instructions first, then what
 * the previous Responses were asked and answered, then the new input.
 *
 * <p>Templates know fewer kinds of messages than the specification: a developer speaks as the
 * system, system messages at the beginning become one, and the calls that follow an assistant's
 * text are part of its message. Reasoning is not repeated to the model.
 */
final class ResponsePrompt {
  private static final String SUMMARY = "What was said before, in short:\n%s";

  private final Json json;
  private final List<ChatMessage> messages = new ArrayList<>();
  private final Set<String> calls = new HashSet<>();

  ResponsePrompt(Json json, @Nullable String instructions) {
    this.json = json;
    if (instructions != null) {
      add(new ChatMessage("system", instructions));
    }
  }

  /** Items of a Response that is already there. */
  void addKnown(ArrayNode items) {
    items.forEach(this::add);
  }

  /**
   * The request's own Items.
   *
   * @throws MeshException one of them answers a call that nobody made
   */
  void addInput(ArrayNode items) {
    for (int i = 0; i < items.size(); i++) {
      JsonNode item = items.get(i);
      if (text(item, "type").equals("function_call_output")
          && !calls.contains(text(item, "call_id"))) {
        throw MeshException.invalid(
            "input[%d].call_id names no function_call of this conversation.".formatted(i),
            "input[%d].call_id".formatted(i));
      }
      add(item);
    }
  }

  /**
   * @param tools that the model is told of
   */
  TurnPrompt.Conversation conversation(List<Tool> tools) {
    return new TurnPrompt.Conversation(
        messages, tools.stream().map(Tool::definition).toList(), Map.of());
  }

  private void add(JsonNode item) {
    switch (text(item, "type")) {
      case "message" -> addMessage(text(item, "role"), joined(item.path("content")));
      case "function_call" -> addCall(item);
      case "function_call_output" ->
          add(
              new ChatMessage(
                  "tool", joined(item.path("output")), List.of(), text(item, "call_id"), null));
      case "compaction" ->
          ResponseSummary.decode(text(item, "encrypted_content"))
              .ifPresent(summary -> addMessage("system", SUMMARY.formatted(summary)));
      default -> {}
    }
  }

  private void addMessage(String role, String content) {
    if (!role.equals("system") && !role.equals("developer")) {
      add(new ChatMessage(role, content));
    } else if (messages.size() == 1 && messages.getFirst().role().equals("system")) {
      String before = messages.getFirst().content();
      messages.set(0, new ChatMessage("system", before + "\n\n" + content));
    } else {
      add(new ChatMessage("system", content));
    }
  }

  private void addCall(JsonNode item) {
    calls.add(text(item, "call_id"));
    Map<String, Object> call =
        Map.of(
            "id", text(item, "call_id"),
            "type", "function",
            "function",
                Map.of(
                    "name", text(item, "name"), "arguments", arguments(text(item, "arguments"))));
    String content = "";
    List<Map<String, Object>> all = new ArrayList<>();
    if (!messages.isEmpty() && messages.getLast().role().equals("assistant")) {
      ChatMessage before = messages.removeLast();
      content = before.content();
      all.addAll(before.toolCalls());
    }
    all.add(call);
    add(new ChatMessage("assistant", content, all, null, null));
  }

  private void add(ChatMessage message) {
    messages.add(message);
  }

  // A model may have written arguments that are not JSON; its template gets them as they are.
  private Object arguments(String text) {
    try {
      return json.value(text) instanceof ObjectNode object ? json.plain(object) : text;
    } catch (MeshException _) {
      return text;
    }
  }

  private static String joined(JsonNode content) {
    if (content.isTextual()) {
      return content.textValue();
    }
    StringBuilder joined = new StringBuilder();
    for (JsonNode part : content) {
      joined.append(part.path("text").asText()).append(part.path("refusal").asText());
    }
    return joined.toString();
  }

  private static String text(JsonNode item, String name) {
    return item.path(name).asText();
  }
}
