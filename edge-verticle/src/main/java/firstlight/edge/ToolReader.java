package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.model.Tool;
import firstlight.model.ToolChoice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads {@code tools} and {@code tool_choice} as chat completions have them. Thread-safe. */
final class ToolReader {
  static final int NAME_CHARACTERS_MAX = 128;

  /** Of a tool that takes no arguments. */
  static final Map<String, Object> NO_PARAMETERS = Map.of("type", "object", "properties", Map.of());

  private static final String CHOICE = "tool_choice";
  private static final String CHOICE_FORMS =
      "must be auto, none, required, {\"type\": \"function\", \"function\": {\"name\": …}} or"
          + " {\"type\": \"allowed_tools\", …}";

  private final Json json;
  private final int toolsMax;

  ToolReader(Json json, int toolsMax) {
    this.json = json;
    this.toolsMax = toolsMax;
  }

  List<Tool> tools(Fields fields) {
    List<Tool> tools = new ArrayList<>();
    for (Fields tool : fields.objects("tools", toolsMax)) {
      tool.require(tool.requiredText("type").equals("function"), "type", "must be function");
      Fields function = tool.object("function").orElseThrow(() -> tool.missing("function"));
      String name = name(function);
      Map<String, Object> parameters =
          function.object("parameters").map(schema -> json.plain(schema.node())).orElse(Map.of());
      tools.add(
          new Tool(
              name,
              json.plain(tool.node()),
              parameters.isEmpty() ? NO_PARAMETERS : parameters,
              function.flag("strict", false)));
    }
    return tools;
  }

  ToolChoice choice(Fields fields, List<Tool> tools) {
    JsonNode choice = fields.any(CHOICE).orElse(null);
    if (choice == null) {
      return ToolChoice.AUTO;
    }
    ToolChoice read = choice.isTextual() ? word(fields) : named(fields);
    checkNames(fields, read, tools);
    return read;
  }

  /** Refuses a choice of tools that are not there. */
  static void checkNames(Fields fields, ToolChoice choice, List<Tool> tools) {
    fields.require(
        choice.mode() != ToolChoice.Mode.REQUIRED || !tools.isEmpty(), CHOICE, "needs tools");
    for (String name : choice.names()) {
      fields.require(
          tools.stream().anyMatch(tool -> tool.name().equals(name)),
          CHOICE,
          "names %s, which is none of the tools".formatted(EdgeModels.shown(name)));
    }
  }

  static String name(Fields tool) {
    String name = tool.requiredText("name");
    tool.require(
        !name.isBlank() && name.length() <= NAME_CHARACTERS_MAX,
        "name",
        "must have 1 to %d characters".formatted(NAME_CHARACTERS_MAX));
    return name;
  }

  private static ToolChoice word(Fields fields) {
    return switch (fields.requiredText(CHOICE)) {
      case "auto" -> ToolChoice.AUTO;
      case "none" -> ToolChoice.NONE;
      case "required" -> ToolChoice.REQUIRED;
      default -> throw fields.refused(CHOICE, CHOICE_FORMS);
    };
  }

  private ToolChoice named(Fields fields) {
    Fields choice = fields.object(CHOICE).orElseThrow();
    return switch (choice.text("type").orElse("")) {
      case "function" -> ToolChoice.named(functionName(choice));
      case "allowed_tools" -> allowed(choice);
      default -> throw fields.refused(CHOICE, CHOICE_FORMS);
    };
  }

  private ToolChoice allowed(Fields choice) {
    Fields allowed =
        choice.object("allowed_tools").orElseThrow(() -> choice.missing("allowed_tools"));
    List<String> names =
        allowed.objects("tools", toolsMax).stream().map(ToolReader::functionName).toList();
    allowed.require(!names.isEmpty(), "tools", "must name at least one tool");
    return switch (allowed.text("mode").orElse("auto")) {
      case "auto" -> new ToolChoice(ToolChoice.Mode.AUTO, names);
      case "required" -> new ToolChoice(ToolChoice.Mode.REQUIRED, names);
      default -> throw allowed.refused("mode", "must be auto or required");
    };
  }

  private static String functionName(Fields reference) {
    reference.require(
        reference.text("type").orElse("").equals("function"), "type", "must be function");
    return reference
        .object("function")
        .orElseThrow(() -> reference.missing("function"))
        .requiredText("name");
  }
}
