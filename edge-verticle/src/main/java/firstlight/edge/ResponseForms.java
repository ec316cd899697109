package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.Tool;
import firstlight.model.ToolChoice;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads what form a Response is to have: {@code tools}, {@code tool_choice}, {@code
 * parallel_tool_calls} and {@code text.format}; and says how a Response repeats them.
 */
final class ResponseForms {
  private static final int NAME_MAX = 128;
  private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9_-]+");
  private static final String CHOICE = "tool_choice";
  private static final List<String> VERBOSITIES = List.of("low", "medium", "high");
  private static final String FORMAT_NAME = "response";

  private final Json json;
  private final GrammarReader grammars;
  private final int toolsMax;

  ResponseForms(Json json, int toolsMax) {
    this.json = json;
    this.grammars = new GrammarReader(json);
    this.toolsMax = toolsMax;
  }

  /**
   * @param echo gets what a Response repeats, defaults filled in
   * @throws MeshException that names the field at fault
   */
  AnswerForm read(Fields fields, ObjectNode echo) {
    List<Tool> tools = tools(fields, echo.putArray("tools"));
    ToolChoice choice = choice(fields, tools, echo);
    boolean parallel = fields.flag("parallel_tool_calls", true);
    echo.put("parallel_tool_calls", parallel);
    Fields text = fields.object("text").orElse(null);
    ObjectNode shown = echo.putObject("text");
    Optional<TextForm> form = form(text, shown.putObject("format"));
    if (text != null) {
      ResponsesReader.choice(text, "verbosity", VERBOSITIES)
          .ifPresent(level -> shown.put("verbosity", level));
    }
    return new AnswerForm(tools, choice, parallel, form);
  }

  private List<Tool> tools(Fields fields, ArrayNode echo) {
    List<Tool> tools = new ArrayList<>();
    for (Fields field : fields.objects("tools", toolsMax)) {
      String type = field.requiredText("type");
      field.require(
          type.equals("function"),
          "type",
          "is %s, which is not supported: tools are functions".formatted(EdgeModels.shown(type)));
      Tool tool = tool(field, echo.addObject().put("type", "function"));
      field.require(
          tools.stream().noneMatch(other -> other.name().equals(tool.name())),
          "name",
          "is that of another tool");
      tools.add(tool);
    }
    return tools;
  }

  private Tool tool(Fields field, ObjectNode echo) {
    String name = field.text("name", NAME_MAX).orElseThrow(() -> field.missing("name"));
    field.require(
        NAME.matcher(name).matches(), "name", "must be of letters, digits, underscores and dashes");
    String description = field.text("description").orElse(null);
    JsonNode parameters = field.any("parameters").orElse(null);
    field.require(parameters == null || parameters.isObject(), "parameters", "must be an object");
    boolean strict = field.flag("strict", false);
    echo.put("name", name).put("description", description);
    echo.set("parameters", parameters);
    echo.put("strict", strict);
    Map<String, Object> schema =
        parameters instanceof ObjectNode object && !object.isEmpty()
            ? json.plain(object)
            : ToolReader.NO_PARAMETERS;
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", name);
    if (description != null) {
      function.put("description", description);
    }
    function.put("parameters", schema);
    return new Tool(name, Map.of("type", "function", "function", function), schema, strict);
  }

  private ToolChoice choice(Fields fields, List<Tool> tools, ObjectNode echo) {
    JsonNode value = fields.any(CHOICE).orElse(null);
    if (value != null && value.isObject()) {
      return named(fields.object(CHOICE).orElseThrow(), tools, echo.putObject(CHOICE));
    }
    fields.require(value == null || value.isTextual(), CHOICE, "must be a string or an object");
    String word = value == null ? "auto" : value.textValue();
    ToolChoice choice = new ToolChoice(mode(fields, CHOICE, word), List.of());
    fields.require(
        choice.mode() != ToolChoice.Mode.REQUIRED || !tools.isEmpty(), CHOICE, "needs tools");
    echo.put(CHOICE, word);
    return choice;
  }

  private ToolChoice named(Fields choice, List<Tool> tools, ObjectNode echo) {
    String type = choice.requiredText("type");
    echo.put("type", type);
    if (type.equals("function")) {
      String name = known(choice, tools);
      echo.put("name", name);
      return ToolChoice.named(name);
    }
    choice.require(type.equals("allowed_tools"), "type", "must be function or allowed_tools");
    List<String> names = new ArrayList<>();
    ArrayNode shown = echo.putArray("tools");
    for (Fields tool : choice.objects("tools", toolsMax)) {
      tool.require(tool.requiredText("type").equals("function"), "type", "must be function");
      names.add(known(tool, tools));
      shown.addObject().put("type", "function").put("name", names.getLast());
    }
    choice.require(!names.isEmpty(), "tools", "must name at least one tool");
    String word = choice.text("mode").orElse("auto");
    echo.put("mode", word);
    return new ToolChoice(mode(choice, "mode", word), names);
  }

  private static String known(Fields reference, List<Tool> tools) {
    String name = reference.requiredText("name");
    reference.require(
        tools.stream().anyMatch(tool -> tool.name().equals(name)),
        "name",
        "is %s, which is none of the tools".formatted(EdgeModels.shown(name)));
    return name;
  }

  private static ToolChoice.Mode mode(Fields fields, String name, String word) {
    return switch (word) {
      case "auto" -> ToolChoice.Mode.AUTO;
      case "none" -> ToolChoice.Mode.NONE;
      case "required" -> ToolChoice.Mode.REQUIRED;
      default -> throw fields.refused(name, "must be auto, none or required");
    };
  }

  private Optional<TextForm> form(@Nullable Fields text, ObjectNode echo) {
    Fields format = text == null ? null : text.object("format").orElse(null);
    String type = format == null ? "text" : format.requiredText("type");
    echo.put("type", type);
    if (format == null || type.equals("text")) {
      return Optional.empty();
    }
    if (type.equals("json_object")) {
      return Optional.of(GrammarReader.anyObject(format.path()));
    }
    format.require(type.equals("json_schema"), "type", "must be text, json_object or json_schema");
    JsonNode schema = format.any("schema").orElseThrow(() -> format.missing("schema"));
    format.require(schema.isObject(), "schema", "must be an object");
    echo.put("name", format.text("name", NAME_MAX).orElse(FORMAT_NAME))
        .put("description", format.text("description").orElse(null));
    echo.set("schema", schema);
    echo.put("strict", format.flag("strict", false));
    return Optional.of(grammars.schema(schema, format.param("schema")));
  }
}
