package firstlight.lake;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Set;

/**
 * What was asked, as messages with roles. The {@code input} of a Response is what its client sent,
 * as JSON in the words of its dialect: the messages of chat.completions and of messages, the Items
 * of responses, the prompt of completions. What is no JSON is taken as what a user said.
 *
 * <p>Texts stay as they are. What is not text and no tool call or result of one makes the whole
 * input unusable: half of what was asked would teach something else.
 */
final class ChatMessages {
  private static final Set<String> TEXT_PARTS =
      Set.of("text", "input_text", "output_text", "refusal");
  private static final String CONTENT = "content";
  private static final String ROLE = "role";
  private static final String TYPE = "type";

  private final ObjectMapper json = new ObjectMapper();

  /** The input can not be told as messages. */
  static final class NotMessages extends Exception {
    private static final long serialVersionUID = 1;

    NotMessages() {
      super(null, null, false, false);
    }
  }

  ObjectMapper json() {
    return json;
  }

  ObjectNode said(String role, String text) {
    return json.createObjectNode().put(ROLE, role).put(CONTENT, text);
  }

  /** Adds what the input of one Response says. */
  void add(ArrayNode messages, String dialect, String input) throws NotMessages {
    JsonNode value = parsed(input);
    if (value.isTextual()) {
      messages.add(said("user", value.textValue()));
      return;
    }
    if (!value.isArray() || value.isEmpty()) {
      throw new NotMessages();
    }
    if (dialect.equals("completions")) {
      completion(messages, value);
      return;
    }
    for (JsonNode each : value) {
      switch (dialect) {
        case "responses" -> item(messages, each);
        case "messages" -> blocks(messages, each);
        default -> message(messages, each);
      }
    }
  }

  private JsonNode parsed(String input) throws NotMessages {
    String start = input.stripLeading();
    boolean isJson = start.startsWith("[") || start.startsWith("\"");
    try {
      return isJson ? json.readTree(input) : json.getNodeFactory().textNode(input);
    } catch (JsonProcessingException e) {
      throw new NotMessages();
    }
  }

  /** A single prompt may stand in a list; token ids are no text. */
  private void completion(ArrayNode messages, JsonNode prompts) throws NotMessages {
    if (prompts.size() != 1 || !prompts.get(0).isTextual()) {
      throw new NotMessages();
    }
    messages.add(said("user", prompts.get(0).textValue()));
  }

  private void message(ArrayNode messages, JsonNode given) throws NotMessages {
    ObjectNode message = json.createObjectNode();
    message.put(ROLE, required(given, ROLE));
    JsonNode content = given.path(CONTENT);
    if (content.isNull() || content.isMissingNode()) {
      message.putNull(CONTENT);
    } else {
      message.put(CONTENT, text(content));
    }
    for (String more : List.of("name", "tool_calls", "tool_call_id")) {
      if (given.hasNonNull(more)) {
        message.set(more, given.get(more));
      }
    }
    messages.add(message);
  }

  private void item(ArrayNode messages, JsonNode item) throws NotMessages {
    switch (item.path(TYPE).asText("message")) {
      case "message" -> messages.add(said(required(item, ROLE), text(item.path(CONTENT))));
      case "function_call" ->
          call(
              messages,
              required(item, "call_id"),
              required(item, "name"),
              required(item, "arguments"));
      case "function_call_output" ->
          messages.add(
              said("tool", text(item.path("output")))
                  .put("tool_call_id", required(item, "call_id")));
      case "reasoning" -> {
        // What a model thought before an earlier answer is not part of what it was asked.
      }
      default -> throw new NotMessages();
    }
  }

  private void blocks(ArrayNode messages, JsonNode given) throws NotMessages {
    String role = required(given, ROLE);
    JsonNode content = given.path(CONTENT);
    if (content.isTextual()) {
      messages.add(said(role, content.textValue()));
      return;
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode block : content) {
      switch (block.path(TYPE).asText()) {
        case "text" -> text.append(required(block, "text"));
        case "tool_use" -> {
          flush(messages, role, text);
          call(
              messages,
              required(block, "id"),
              required(block, "name"),
              block.path("input").toString());
        }
        case "tool_result" -> {
          flush(messages, role, text);
          messages.add(
              said("tool", block.has(CONTENT) ? text(block.get(CONTENT)) : "")
                  .put("tool_call_id", required(block, "tool_use_id")));
        }
        case "thinking", "redacted_thinking" -> {
          // As with Items of reasoning.
        }
        default -> throw new NotMessages();
      }
    }
    flush(messages, role, text);
  }

  private void flush(ArrayNode messages, String role, StringBuilder text) {
    if (!text.isEmpty()) {
      messages.add(said(role, text.toString()));
      text.setLength(0);
    }
  }

  /** Calls in a row are of one message. */
  private void call(ArrayNode messages, String id, String name, String arguments) {
    JsonNode last = messages.isEmpty() ? json.nullNode() : messages.get(messages.size() - 1);
    ObjectNode message;
    if (last instanceof ObjectNode before && before.path(ROLE).asText().equals("assistant")) {
      message = before;
    } else {
      message = messages.addObject().put(ROLE, "assistant").putNull(CONTENT);
    }
    ObjectNode call = message.withArray("tool_calls").addObject();
    call.put("id", id).put(TYPE, "function");
    call.putObject("function").put("name", name).put("arguments", arguments);
  }

  private static String text(JsonNode content) throws NotMessages {
    if (content.isTextual()) {
      return content.textValue();
    }
    if (!content.isArray()) {
      throw new NotMessages();
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode part : content) {
      if (!TEXT_PARTS.contains(part.path(TYPE).asText())) {
        throw new NotMessages();
      }
      text.append(part.has("text") ? required(part, "text") : required(part, "refusal"));
    }
    return text.toString();
  }

  private static String required(JsonNode node, String field) throws NotMessages {
    JsonNode value = node.path(field);
    if (!value.isTextual()) {
      throw new NotMessages();
    }
    return value.textValue();
  }
}
