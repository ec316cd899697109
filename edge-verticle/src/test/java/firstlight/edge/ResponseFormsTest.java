package firstlight.edge;

import static firstlight.edge.ResponsesReaderTest.JSON;
import static firstlight.edge.ResponsesReaderTest.read;
import static firstlight.edge.ResponsesReaderTest.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import firstlight.model.SchemaGrammar;
import firstlight.model.Tool;
import firstlight.model.ToolChoice;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResponseFormsTest {
  @Test
  void tools_reach_the_turn_and_are_repeated_with_every_key() {
    ResponseRequest request =
        read(
            "'input':'x','tools':[{'type':'function','name':'w','description':'weather',"
                + "'parameters':{'type':'object','properties':{'at':{'type':'string'}}},"
                + "'strict':true},{'type':'function','name':'t'}]");

    List<Tool> tools = request.form().tools();
    Map<String, Object> schema =
        Map.of("type", "object", "properties", Map.of("at", Map.of("type", "string")));
    assertThat(tools.get(0))
        .isEqualTo(
            new Tool(
                "w",
                Map.of(
                    "type",
                    "function",
                    "function",
                    Map.of("name", "w", "description", "weather", "parameters", schema)),
                schema,
                true));
    assertThat(tools.get(1).strict()).isFalse();
    assertThat(tools.get(1).parameters()).containsEntry("type", "object");
    assertThat(request.echo().get("tools"))
        .isEqualTo(
            JSON.value(
                """
                [{"type":"function","name":"w","description":"weather","parameters":
                {"type":"object","properties":{"at":{"type":"string"}}},"strict":true},
                {"type":"function","name":"t","description":null,"parameters":null,
                "strict":false}]
                """));
    assertThat(request.ignored()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'auto'|'auto'|AUTO|",
        "'none'|'none'|NONE|",
        "'required'|'required'|REQUIRED|",
        "null|'auto'|AUTO|",
        "{'type':'function','name':'w'}|{'type':'function','name':'w'}|NAMED|w",
        "{'type':'allowed_tools','tools':[{'type':'function','name':'t'}]}"
            + "|{'type':'allowed_tools','tools':[{'type':'function','name':'t'}],'mode':'auto'}"
            + "|AUTO|t",
        "{'type':'allowed_tools','mode':'required','tools':[{'type':'function','name':'t'}]}"
            + "|{'type':'allowed_tools','tools':[{'type':'function','name':'t'}],'mode':'required'}"
            + "|REQUIRED|t",
      })
  void a_choice_of_tools_is_kept_to_and_repeated(
      String choice, String echo, ToolChoice.Mode mode, String name) {
    ResponseRequest request =
        read(
            "'input':'x','parallel_tool_calls':false,'tool_choice':%s,'tools':[".formatted(choice)
                + "{'type':'function','name':'w'},{'type':'function','name':'t'}]");

    assertThat(request.form().choice())
        .isEqualTo(new ToolChoice(mode, name == null ? List.of() : List.of(name)));
    assertThat(request.form().parallel()).isFalse();
    assertThat(request.form().tools()).hasSize(2);
    assertThat(request.echo().get("tool_choice")).isEqualTo(JSON.value(echo.replace('\'', '"')));
  }

  @Test
  void the_form_of_the_text_is_kept_to_and_repeated() {
    ResponseRequest object = read("'input':'x','text':{'format':{'type':'json_object'}}");
    ResponseRequest schema =
        read(
            "'input':'x','text':{'format':{'type':'json_schema','name':'n','strict':true,"
                + "'schema':{'type':'boolean'}}}");

    assertThat(object.form().text().orElseThrow().grammar().toString())
        .isEqualTo(SchemaGrammar.anyObject().toString());
    assertThat(object.echo().at("/text/format"))
        .isEqualTo(JSON.value("{\"type\":\"json_object\"}"));
    assertThat(schema.form().text().orElseThrow().grammar().toString())
        .isEqualTo(SchemaGrammar.of(Map.of("type", "boolean")).toString());
    assertThat(schema.echo().at("/text/format"))
        .isEqualTo(
            JSON.value(
                """
                {"type":"json_schema","name":"n","description":null,"strict":true,
                "schema":{"type":"boolean"}}
                """));
    assertThat(schema.ignored()).isEmpty();
  }

  @Test
  void a_schema_that_cannot_be_kept_to_is_refused_with_the_reason() {
    TextForm form =
        read("'input':'x','text':{'format':{'type':'json_schema','schema':{'type':'strnig'}}}")
            .form()
            .text()
            .orElseThrow();

    MeshException refusal = catchThrowableOfType(MeshException.class, form::check);

    assertThat(refusal.param()).isEqualTo("text.format.schema");
    assertThat(refusal.getMessage()).contains("strnig");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'input':'x','tools':[{'type':'web_search'}]|tools[0].type",
        "'input':'x','tools':[{'name':'f'}]|tools[0].type",
        "'input':'x','tools':[{'type':'function'}]|tools[0].name",
        "'input':'x','tools':[{'type':'function','name':''}]|tools[0].name",
        "'input':'x','tools':[{'type':'function','name':'a b'}]|tools[0].name",
        "'input':'x','tools':[{'type':'function','name':'f','parameters':5}]"
            + "|tools[0].parameters",
        "'input':'x','tools':[{'type':'function','name':'f','strict':5}]|tools[0].strict",
        "'input':'x','tools':[{'type':'function','name':'f'},{'type':'function',"
            + "'name':'f'}]|tools[1].name",
        "'input':'x','tools':{}|tools",
        "'input':'x','tool_choice':'required'|tool_choice",
        "'input':'x','tool_choice':{'type':'function','name':'f'}|tool_choice.name",
        "'input':'x','tool_choice':'any'|tool_choice",
        "'input':'x','tool_choice':{'type':'mcp'}|tool_choice.type",
        "'input':'x','tool_choice':{'name':'f'}|tool_choice.type",
        "'input':'x','tool_choice':{'type':'allowed_tools'}|tool_choice.tools",
        "'input':'x','tool_choice':{'type':'allowed_tools','tools':[{'type':'function',"
            + "'name':'f'}]}|tool_choice.tools[0].name",
        "'input':'x','tool_choice':{'type':'allowed_tools','tools':[{'type':'x'}]}"
            + "|tool_choice.tools[0].type",
        "'input':'x','tool_choice':5|tool_choice",
        "'input':'x','text':'json'|text",
        "'input':'x','text':{'format':{'type':'grammar'}}|text.format.type",
        "'input':'x','text':{'format':{}}|text.format.type",
        "'input':'x','text':{'format':{'type':'json_schema'}}|text.format.schema",
        "'input':'x','text':{'format':{'type':'json_schema','schema':'x'}}|text.format.schema",
        "'input':'x','text':{'format':{'type':'json_schema','schema':{},'name':1}}"
            + "|text.format.name",
        "'input':[{'role':'user','content':[{'text':'x'}]}]|input[0].content[0].type",
      })
  void what_cannot_be_is_refused_by_name(String fields, String param) {
    MeshException refusal = refusal("'model':'m'," + fields);

    assertThat(refusal.kind()).isEqualTo(FailureKind.INVALID_REQUEST);
    assertThat(refusal.param()).isEqualTo(param);
    assertThat(refusal.getMessage()).startsWith(param);
  }
}
