package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.ResponseId;
import java.util.List;
import java.util.Optional;

/**
 * Reads the input Items of a request into the shape in which a Response shows Items: with ids,
 * states and lists of content parts. It is lenient where clients are known to leave things out. An
 * item_reference stays one: see {@link ResponseReferences}.
 */
final class ResponseItems {
  private static final int ID_MAX = 128;
  private static final int CALL_ID_MAX = 64;
  private static final int FUNCTION_NAME_MAX = 128;
  private static final String UNSUPPORTED = "is not supported";
  private static final List<String> ROLES = List.of("user", "assistant", "system", "developer");
  private static final List<String> STATES = List.of("in_progress", "completed", "incomplete");
  private static final List<String> PHASES = List.of("commentary", "final_answer");
  private static final List<String> TEXT_PARTS = List.of("input_text", "output_text", "text");

  private final EdgeConfig.Limits limits;
  private final ResponseId response;

  /**
   * @param response whose input they are: Items without an id get one that follows from its id
   */
  ResponseItems(EdgeConfig.Limits limits, ResponseId response) {
    this.limits = limits;
    this.response = response;
  }

  /**
   * The Items of {@code input}, a string or a list; empty when it is missing.
   *
   * @throws firstlight.protocol.MeshException that names the Item or part at fault
   */
  ArrayNode read(Fields body) {
    ArrayNode items = Json.array();
    Optional<JsonNode> input = body.any("input");
    if (input.isPresent() && input.get().isTextual()) {
      ObjectNode message = item("message", id("msg_", 0), "completed").put("role", "user");
      addText(message.putArray("content"), "input_text", input.get().textValue());
      return items.add(message);
    }
    body.require(
        input.isEmpty() || input.get().isArray(), "input", "must be a string or a list of Items");
    return list(body, "input", limits.messagesMax());
  }

  /** The Items of a field that can only be a list of at most so many; empty when it is missing. */
  ArrayNode list(Fields body, String name, int max) {
    ArrayNode items = Json.array();
    for (Fields item : body.objects(name, max)) {
      items.add(read(item, items.size()));
    }
    return items;
  }

  private ObjectNode read(Fields item, int index) {
    String type =
        item.text("type")
            .orElseGet(
                () -> {
                  item.require(item.has("role"), "type", "is missing");
                  return "message";
                });
    return switch (type) {
      case "message" -> message(item, index);
      case "function_call" -> functionCall(item, index);
      case "function_call_output" -> functionCallOutput(item, index);
      case "reasoning" -> reasoning(item, index);
      case "compaction" -> compaction(item, index);
      case "item_reference" ->
          Json.object().put("type", type).put("id", required(item, "id", ID_MAX));
      default ->
          throw item.refused(
              "type", "is %s, which %s".formatted(EdgeModels.shown(type), UNSUPPORTED));
    };
  }

  private ObjectNode message(Fields item, int index) {
    String role = item.requiredText("role");
    item.require(ROLES.contains(role), "role", "must be one of " + String.join(", ", ROLES));
    boolean answer = role.equals("assistant");
    ObjectNode message = item("message", id(item, "msg_", index), state(item)).put("role", role);
    content(item, "content", answer ? "output_text" : "input_text", message.putArray("content"));
    Optional<String> phase = item.text("phase");
    item.require(
        phase.map(PHASES::contains).orElse(true),
        "phase",
        "must be one of " + String.join(", ", PHASES));
    if (answer && phase.isPresent()) {
      message.put("phase", phase.get());
    }
    return message;
  }

  private ObjectNode functionCall(Fields item, int index) {
    return item("function_call", id(item, "fc_", index), state(item))
        .put("call_id", callId(item))
        .put("name", required(item, "name", FUNCTION_NAME_MAX))
        .put("arguments", item.requiredText("arguments"));
  }

  private ObjectNode functionCallOutput(Fields item, int index) {
    ObjectNode output =
        item("function_call_output", id(item, "fco_", index), state(item))
            .put("call_id", callId(item));
    Optional<JsonNode> value = item.any("output");
    if (value.isPresent() && value.get().isTextual()) {
      return output.put("output", value.get().textValue());
    }
    content(item, "output", "input_text", output.putArray("output"));
    return output;
  }

  /** Kept, so that it can be shown again; no supported model is given earlier reasoning. */
  private ObjectNode reasoning(Fields item, int index) {
    ObjectNode reasoning = Json.object().put("type", "reasoning").put("id", id(item, "rs_", index));
    ArrayNode summary = reasoning.putArray("summary");
    for (Fields part : item.objects("summary", limits.messagesMax())) {
      addText(summary, "summary_text", part.requiredText("text"));
    }
    List<Fields> content = item.objects("content", limits.messagesMax());
    if (!content.isEmpty()) {
      ArrayNode parts = reasoning.putArray("content");
      content.forEach(part -> addText(parts, "reasoning_text", part.requiredText("text")));
    }
    item.text("encrypted_content").ifPresent(text -> reasoning.put("encrypted_content", text));
    return reasoning;
  }

  /** What an earlier compaction gave. */
  private ObjectNode compaction(Fields item, int index) {
    String content = item.requiredText("encrypted_content");
    item.require(
        ResponseSummary.decode(content).isPresent(),
        "encrypted_content",
        "is not what a compaction gave");
    return Json.object()
        .put("type", "compaction")
        .put("id", id(item, "cmp_", index))
        .put("encrypted_content", content);
  }

  private void content(Fields item, String name, String partType, ArrayNode into) {
    JsonNode value = item.any(name).orElseThrow(() -> item.missing(name));
    if (value.isTextual()) {
      addText(into, partType, value.textValue());
      return;
    }
    item.require(value.isArray(), name, "must be a string or a list of parts");
    for (Fields part : item.objects(name, limits.messagesMax())) {
      String type = part.requiredText("type");
      if (type.equals("refusal")) {
        into.addObject().put("type", type).put("refusal", part.requiredText("refusal"));
      } else if (TEXT_PARTS.contains(type)) {
        addText(into, partType, part.requiredText("text"));
      } else {
        throw part.refused(
            "type", "is %s, which %s".formatted(EdgeModels.shown(type), UNSUPPORTED));
      }
    }
  }

  private static void addText(ArrayNode parts, String type, String text) {
    ObjectNode part = parts.addObject().put("type", type).put("text", text);
    if (type.equals("output_text")) {
      part.putArray("annotations");
    }
  }

  private static ObjectNode item(String type, String id, String status) {
    return Json.object().put("type", type).put("id", id).put("status", status);
  }

  private static String state(Fields item) {
    return item.text("status").filter(STATES::contains).orElse("completed");
  }

  private static String callId(Fields item) {
    return required(item, "call_id", CALL_ID_MAX);
  }

  private static String required(Fields item, String name, int charactersMax) {
    String text = item.text(name, charactersMax).orElseThrow(() -> item.missing(name));
    item.require(!text.isEmpty(), name, "must not be empty");
    return text;
  }

  private String id(Fields item, String prefix, int index) {
    return item.text("id", ID_MAX).filter(id -> !id.isEmpty()).orElseGet(() -> id(prefix, index));
  }

  private String id(String prefix, int index) {
    return ResponseResource.itemId(prefix, response, "_" + index);
  }
}
