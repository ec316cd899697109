package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WrittenHistoryTest {
  private static final FamilyFormat GENERIC = (FamilyFormat) FormatChoice.of("{{ messages }}");
  private static final Tool TOOL = RandomTools.tool("get_w", Map.of("type", "object"), false);

  private static Map<String, Object> call(String id, Object arguments) {
    return Map.of(
        "id", id, "type", "function", "function", Map.of("name", "get_w", "arguments", arguments));
  }

  private static ChatMessage result(String id, String content) {
    return new ChatMessage("tool", content, List.of(), id, null);
  }

  private static final List<ChatMessage> SESSION =
      List.of(
          new ChatMessage("user", "Weather?"),
          new ChatMessage(
              "assistant",
              "",
              List.of(call("1", Map.of("c", "Oslo")), call("2", "{broken")),
              null,
              null),
          result("2", "rain"),
          result("1", "sun"),
          new ChatMessage("user", "And now?"));

  @Test
  void calls_and_results_become_text_in_the_order_of_the_calls() {
    assertThat(GENERIC.messages(SESSION, List.of(), ToolChoice.AUTO))
        .containsExactly(
            new ChatMessage("user", "Weather?"),
            new ChatMessage(
                "assistant",
                """
                <tool_call>
                {"name": "get_w", "arguments": {"c":"Oslo"}}
                </tool_call>
                <tool_call>
                {"name": "get_w", "arguments": {broken}
                </tool_call>\
                """),
            new ChatMessage(
                "user",
                """
                <tool_response>
                sun
                </tool_response>
                <tool_response>
                rain
                </tool_response>
                And now?\
                """));
  }

  @Test
  void a_template_that_knows_calls_sees_them() {
    ToolFormat hermes = FormatChoice.of("{{ tools }}<tool_call>{{ tool_calls }}");
    assertThat(hermes.messages(SESSION, List.of(TOOL), ToolChoice.AUTO))
        .as("results in the order of their calls, for it shows no ids (B31)")
        .containsExactly(
            SESSION.get(0), SESSION.get(1), SESSION.get(3), SESSION.get(2), SESSION.get(4));
    assertThat(hermes.tellsTools()).isTrue();
  }

  @Test
  void each_result_stays_with_the_calls_before_it_and_one_without_a_call_comes_last() {
    List<ChatMessage> two =
        List.of(
            new ChatMessage("assistant", "", List.of(call("1", "{}")), null, null),
            result("9", "of nothing"),
            new ChatMessage("function", "older form"),
            result("1", "first"),
            new ChatMessage("assistant", "", List.of(call("2", "{}")), null, null),
            result("1", "late"),
            result("2", "second"));
    assertThat(ResultOrder.of(two))
        .extracting(ChatMessage::content)
        .containsExactly("", "first", "of nothing", "older form", "", "second", "late");
  }

  @Test
  void the_system_is_told_of_tools() {
    String told = GENERIC.instructions(List.of(TOOL), ToolChoice.AUTO);
    assertThat(told)
        .contains(
            "<tools>\n{\"", "\"name\":\"get_w\"", "}\n</tools>\n", "<tool_call>\n{\"name\": ");
    List<ChatMessage> user = List.of(new ChatMessage("user", "Hi"));
    assertThat(GENERIC.messages(user, List.of(TOOL), ToolChoice.AUTO))
        .containsExactly(new ChatMessage("system", told), user.getFirst());
    List<ChatMessage> developer = List.of(new ChatMessage("developer", "Be terse."));
    assertThat(GENERIC.messages(developer, List.of(TOOL), ToolChoice.AUTO))
        .containsExactly(new ChatMessage("developer", "Be terse.\n\n" + told));
    assertThat(GENERIC.messages(user, List.of(), ToolChoice.AUTO)).isEqualTo(user);
  }

  @Test
  void the_system_is_told_of_the_choice() {
    assertThat(GENERIC.instructions(List.of(TOOL), ToolChoice.NONE))
        .endsWith("Answer without calling a function.");
    ToolChoice named = ToolChoice.named("get_w");
    assertThat(GENERIC.instructions(List.of(TOOL), named))
        .endsWith("You must call a function now. Call only get_w.");
  }

  @Test
  void a_template_that_wants_user_and_assistant_in_turns_gets_them() {
    Tokenizer tokenizer = References.tokenizer(TestModels.gemma3());
    ChatTemplate template = ChatTemplate.compile(ChatTemplate.builtIn("gemma3"), tokenizer);
    ToolFormat format = ToolFormat.of(template);
    List<ChatMessage> told = format.messages(SESSION, List.of(TOOL), ToolChoice.AUTO);
    assertThat(told)
        .extracting(ChatMessage::role)
        .containsExactly("system", "user", "assistant", "user");
    assertThat(told.get(2).content()).contains("```tool_code\n[get_w(c=\"Oslo\"), get_w(");
    assertThat(template.prompt(told, List.of(), Map.of(), true, Instant.EPOCH)).isNotEmpty();
  }
}
