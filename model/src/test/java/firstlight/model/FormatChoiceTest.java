package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Templates of each family, shortened to what matters. */
class FormatChoiceTest {
  private static final String QWEN =
      """
      {%- if tools %}<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools>
      <tool_call>{"name": <function-name>, "arguments": <args-json-object>}</tool_call>{% endif %}
      {%- for tool_call in message.tool_calls %}<tool_call>{% endfor %}
      {%- if enable_thinking %}<think>{% endif %}\
      """;
  private static final String LLAMA =
      """
      {%- if tools is not none %}{{- 'Respond in the format {"name": function name, \
      "parameters": dictionary of argument name and its value}.' }}{% endif %}
      {%- if message.tool_calls %}{{- '{"name": "' + tool_call.name + '", ' }}\
      {{- '"parameters": ' }}{% endif %}\
      """;
  private static final String MISTRAL =
      """
      {%- if tools %}[AVAILABLE_TOOLS]{{ tools }}[/AVAILABLE_TOOLS]{% endif %}
      {%- if message.tool_calls %}[TOOL_CALLS][{% endif %}\
      """;
  private static final String NEW_MISTRAL =
      "{{ tools }}{% for c in message.tool_calls %}[TOOL_CALLS]{{ c.function.name }}[ARGS]{% endfor"
          + " %}";
  private static final String GEMMA_TOOLS =
      "<start_of_turn>{% if tools %}```tool_code {{ tool_calls }}{% endif %}";
  private static final String PYTHON =
      "{{ tools }}[func_name1(params_name1=params_value1)] {{ message.tool_calls }}";

  private static FamilyFormat of(String template) {
    return (FamilyFormat) FormatChoice.of(template);
  }

  private static String notation(String template) {
    return of(template)
        .notation()
        .written(List.of(new CallNotation.WrittenCall("f", Map.of("a", 1))));
  }

  @Test
  void each_family_is_known_by_its_template() {
    assertThat(notation(QWEN))
        .isEqualTo("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call>");
    assertThat(notation(LLAMA)).isEqualTo("{\"name\": \"f\", \"parameters\": {\"a\":1}}");
    assertThat(notation(MISTRAL))
        .isEqualTo("[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\":1}}]");
    assertThat(notation(NEW_MISTRAL)).isEqualTo("[TOOL_CALLS]f[ARGS]{\"a\":1}");
    assertThat(notation(GEMMA_TOOLS)).isEqualTo("```tool_code\n[f(a=1)]\n```");
    assertThat(notation(PYTHON)).isEqualTo("[f(a=1)]");
    for (String template : List.of(QWEN, LLAMA, MISTRAL, NEW_MISTRAL, GEMMA_TOOLS, PYTHON)) {
      assertThat(of(template).tellsTools()).as(template).isTrue();
      assertThat(of(template).tellsCalls()).as(template).isTrue();
    }
  }

  @Test
  void a_template_without_tools_leaves_them_to_instructions() {
    String gemma = ChatTemplate.builtIn("gemma3");
    assertThat(notation(gemma)).isEqualTo("```tool_code\n[f(a=1)]\n```");
    String smol = JinjaTest.template("smollm2");
    assertThat(notation(smol)).startsWith("<tool_call>\n");
    // Its notation of calls is not known, so it is told one.
    String other = "{{ tools }} {{ message.tool_calls }} <action>";
    for (String template : List.of(gemma, smol, other)) {
      assertThat(of(template).tellsTools()).as(template).isFalse();
      assertThat(of(template).tellsCalls()).as(template).isFalse();
    }
  }

  @Test
  void reasoning_is_known_by_its_markers() {
    assertThat(of(QWEN).reasons()).isTrue();
    assertThat(of("{{ content.split('</think>')[-1] }}").reasons()).isTrue();
    assertThat(of(LLAMA).reasons()).isFalse();
  }
}
