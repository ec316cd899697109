package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.model.Tool;
import firstlight.model.ToolChoice;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads tools and the form of answers as Anthropic's messages have them. Thread-safe. */
final class MessagesTools {
  private static final String CHOICE = "tool_choice";

  private final Json json;
  private final GrammarReader grammars;
  private final int toolsMax;

  MessagesTools(Json json, int toolsMax) {
    this.json = json;
    this.grammars = new GrammarReader(json);
    this.toolsMax = toolsMax;
  }

  AnswerForm form(Fields fields) {
    List<Tool> tools = new ArrayList<>();
    fields.objects("tools", toolsMax).forEach(tool -> tools.add(tool(tool)));
    Optional<Fields> choice = fields.object(CHOICE);
    ToolChoice read = choice.map(MessagesTools::choice).orElse(ToolChoice.AUTO);
    ToolReader.checkNames(fields, read, tools);
    boolean alone = choice.map(one -> one.flag("disable_parallel_tool_use", false)).orElse(false);
    return new AnswerForm(tools, read, !alone, text(fields));
  }

  private Tool tool(Fields tool) {
    tool.require(
        tool.text("type").orElse("custom").equals("custom"),
        "type",
        "must be custom: there are no tools of the server's own");
    String name = ToolReader.name(tool);
    Map<String, Object> schema =
        json.plain(
            tool.object("input_schema").orElseThrow(() -> tool.missing("input_schema")).node());
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", name);
    tool.text("description").ifPresent(description -> function.put("description", description));
    function.put("parameters", schema);
    Map<String, Object> definition = new LinkedHashMap<>();
    definition.put("type", "function");
    definition.put("function", function);
    return new Tool(name, definition, schema, tool.flag("strict", false));
  }

  private static ToolChoice choice(Fields choice) {
    return switch (choice.requiredText("type")) {
      case "auto" -> ToolChoice.AUTO;
      case "none" -> ToolChoice.NONE;
      case "any" -> ToolChoice.REQUIRED;
      case "tool" -> ToolChoice.named(choice.requiredText("name"));
      default -> throw choice.refused("type", "must be auto, any, tool or none");
    };
  }

  private Optional<TextForm> text(Fields fields) {
    Optional<Fields> older = fields.object("output_format");
    Optional<Fields> newer = fields.object("output_config").flatMap(out -> out.object("format"));
    Fields format = newer.or(() -> older).orElse(null);
    if (format == null) {
      return Optional.empty();
    }
    format.require(
        format.requiredText("type").equals("json_schema"), "type", "must be json_schema");
    JsonNode schema = format.any("schema").orElseThrow(() -> format.missing("schema"));
    return Optional.of(grammars.schema(schema, format.param("schema")));
  }
}
