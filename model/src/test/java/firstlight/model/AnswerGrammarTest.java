package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What answers must keep to, and that what keeps to it is parsed into calls. */
class AnswerGrammarTest {
  private static final String HERMES = "{{ tools }} <tool_call> tool_calls";
  private static final String THINKING = HERMES + " <think>";
  private static final String LLAMA = "{{ tools }} <|python_tag|> tool_calls";
  private static final String MISTRAL = "{{ tools }} [TOOL_CALLS] tool_calls";
  private static final String NEW_MISTRAL = MISTRAL + " [ARGS]";
  private static final String GEMMA = "<start_of_turn>";
  private static final String PYTHON = "{{ tools }} [func_name1(a=1)] tool_calls";

  private static final Tool WEATHER =
      RandomTools.tool(
          "get_w",
          Map.of(
              "type",
              "object",
              "properties",
              Map.of("c", Map.of("type", "string", "enum", List.of("Oslo"))),
              "required",
              List.of("c"),
              "additionalProperties",
              false),
          false);
  private static final Tool STRICT =
      new Tool("strict", WEATHER.definition(), WEATHER.parameters(), true);
  private static final Tool ANYTHING = RandomTools.tool("any-thing", Map.of(), false);

  private static ToolChoice only(ToolChoice.Mode mode, String name) {
    return new ToolChoice(mode, List.of(name));
  }

  private static Optional<Grammar> grammar(
      String template, List<Tool> tools, ToolChoice choice, boolean parallel) {
    return FormatChoice.of(template)
        .grammar(new AnswerRules(tools, choice, parallel, Optional.empty()), "")
        // As it goes to a replica: as text.
        .map(grammar -> Grammar.parse(grammar.toString()));
  }

  private static boolean allows(Optional<Grammar> grammar, String answer) {
    return GrammarTest.matches(grammar.orElseThrow(), answer);
  }

  private static String call(String name, String arguments) {
    return "<tool_call>\n{\"name\": \"%s\", \"arguments\": %s}\n</tool_call>"
        .formatted(name, arguments);
  }

  @Test
  void a_call_that_must_be_is_one_of_a_tool_with_its_arguments() {
    Optional<Grammar> one = grammar(HERMES, List.of(WEATHER, ANYTHING), ToolChoice.REQUIRED, false);
    String weather = call("get_w", "{\"c\":\"Oslo\"}");
    assertThat(allows(one, weather)).isTrue();
    assertThat(allows(one, call("any-thing", "{\"x\": [1]}"))).isTrue();
    assertThat(allows(one, call("any-thing", "[1]"))).isFalse();
    assertThat(allows(one, call("get_w", "{\"c\":\"Rome\"}"))).isFalse();
    assertThat(allows(one, call("get_x", "{}"))).isFalse();
    assertThat(allows(one, "Hello")).isFalse();
    assertThat(allows(one, "")).isFalse();
    assertThat(allows(one, weather + "\n" + weather)).isFalse();
    Optional<Grammar> several = grammar(HERMES, List.of(WEATHER), ToolChoice.REQUIRED, true);
    assertThat(allows(several, weather + "\n" + weather)).isTrue();
  }

  @Test
  void a_named_call_is_one_to_that_tool() {
    List<Tool> tools = List.of(WEATHER, ANYTHING);
    String call = call("any-thing", "{}");
    Optional<Grammar> named = grammar(HERMES, tools, ToolChoice.named("any-thing"), true);
    assertThat(allows(named, call)).isTrue();
    assertThat(allows(named, call("get_w", "{\"c\":\"Oslo\"}"))).isFalse();
    assertThat(allows(named, call + "\n" + call)).isFalse();
    Optional<Grammar> allowed =
        grammar(HERMES, tools, only(ToolChoice.Mode.REQUIRED, "any-thing"), true);
    assertThat(allows(allowed, call + "\n" + call)).isTrue();
  }

  @Test
  void a_free_model_is_held_to_strict_schemas_and_to_allowed_tools() {
    assertThat(grammar(HERMES, List.of(WEATHER), ToolChoice.AUTO, true)).isEmpty();
    assertThat(grammar(HERMES, List.of(), ToolChoice.AUTO, true)).isEmpty();
    Optional<Grammar> strict = grammar(HERMES, List.of(STRICT, WEATHER), ToolChoice.AUTO, true);
    assertThat(allows(strict, "Hello <tool")).isTrue();
    assertThat(allows(strict, "")).isTrue();
    assertThat(allows(strict, "Well\n" + call("strict", "{\"c\":\"Oslo\"}"))).isTrue();
    assertThat(allows(strict, call("strict", "{\"c\":\"Oslo\"}"))).isTrue();
    assertThat(allows(strict, call("strict", "{\"c\":\"Rome\"}"))).isFalse();
    assertThat(allows(strict, call("get_w", "{\"c\":\"Rome\"}"))).isTrue();
    assertThat(allows(strict, "a <tool_call> b")).isFalse();
    Optional<Grammar> allowed =
        grammar(HERMES, List.of(WEATHER, ANYTHING), only(ToolChoice.Mode.AUTO, "any-thing"), true);
    assertThat(allows(allowed, "Hello")).isTrue();
    assertThat(allows(allowed, call("any-thing", "{}"))).isTrue();
    assertThat(allows(allowed, call("get_w", "{\"c\":\"Oslo\"}"))).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '§',
      value = {
        HERMES + "~Hi <tool_cal~true",
        HERMES + "~<<tool_call>~false",
        HERMES + "~{}~true",
        LLAMA + "~{}~false",
        LLAMA + "~§ \n{}§~false",
        LLAMA + "~a {}~true",
        LLAMA + "~a <|python_tag|>~false",
        MISTRAL + "~[~false",
        MISTRAL + "~x[[TOOL_CALLS]~false",
        MISTRAL + "~x[[TOOL_CALLS~true",
        GEMMA + "~````tool_code~false",
        GEMMA + "~````tool_cod~true",
      })
  void without_calls_no_call_begins(String template, String answer, boolean allowed) {
    Optional<Grammar> none = grammar(template, List.of(WEATHER), ToolChoice.NONE, true);
    assertThat(allows(none, answer)).isEqualTo(allowed);
  }

  @Test
  void a_choice_must_be_of_tools_that_there_are() {
    for (ToolChoice.Mode mode : ToolChoice.Mode.values()) {
      assertThatThrownBy(() -> grammar(HERMES, List.of(WEATHER), only(mode, "x"), true))
          .isInstanceOf(InvalidGrammar.class)
          .hasMessage("there is no tool 'x'");
    }
    assertThatThrownBy(() -> grammar(HERMES, List.of(), ToolChoice.REQUIRED, true))
        .hasMessage("a call is required, but there is no tool");
    Tool wrong = RandomTools.tool("w", Map.of("type", "strnig"), false);
    assertThatThrownBy(() -> grammar(HERMES, List.of(wrong), ToolChoice.REQUIRED, true))
        .hasMessageStartingWith("tool 'w': schema at #");
    Tool unnamed =
        RandomTools.tool(
            "u", Map.of("properties", Map.of("a-b", Map.of()), "required", List.of("a-b")), false);
    assertThatThrownBy(() -> grammar(GEMMA, List.of(unnamed), ToolChoice.REQUIRED, true))
        .hasMessageContaining("'a-b' cannot be the name of an argument");
  }

  @Test
  void text_of_a_form_or_calls() {
    Grammar form = SchemaGrammar.anyObject();
    FamilyFormat format = (FamilyFormat) FormatChoice.of(THINKING);
    Optional<Grammar> either =
        format.grammar(
            new AnswerRules(List.of(WEATHER), ToolChoice.AUTO, true, Optional.of(form)), "");
    assertThat(allows(either, "{\"a\":1}")).isTrue();
    assertThat(allows(either, "<think>hm</think>\n\n{\"a\":1}")).isTrue();
    assertThat(allows(either, call("get_w", "{\"x\":1}"))).isTrue();
    assertThat(allows(either, "Hello")).isFalse();
    Optional<Grammar> thought =
        format.grammar(
            new AnswerRules(List.of(), ToolChoice.AUTO, true, Optional.of(form)), "<think>\n");
    assertThat(allows(thought, "hm</think>\n{}")).isTrue();
    assertThat(allows(thought, "{}")).isFalse();
  }

  private static FamilyFormat format(String template) {
    return (FamilyFormat) FormatChoice.of(template);
  }

  private static List<String> liked(String template) {
    List<String> liked = new ArrayList<>(format(template).notation().markers());
    liked.addAll(List.of("</think>", "<think>", "{\"", "[f("));
    return liked;
  }

  @ParameterizedTest
  @ValueSource(strings = {HERMES, THINKING, LLAMA, MISTRAL, NEW_MISTRAL, GEMMA, PYTHON})
  void what_keeps_to_the_grammar_is_parsed_into_calls_that_keep_to_the_schema(String template)
      throws Exception {
    long seed = Long.getLong("seed", 11);
    for (int run = 0; run < 60; run++) {
      Random random = new Random(seed * 100_000 + run);
      List<Tool> tools = new RandomTools(random).tools(run % 2 == 0);
      ToolChoice choice = run % 3 == 0 ? ToolChoice.AUTO : ToolChoice.REQUIRED;
      Optional<Grammar> grammar = grammar(template, tools, choice, random.nextBoolean());
      if (grammar.isPresent()) {
        RandomWalk walk = new RandomWalk(grammar.orElseThrow(), random, liked(template));
        for (int i = 0; i < 10; i++) {
          String answer = walk.text();
          check(template, tools, choice, answer, "-Dseed=" + seed + ", run " + run);
        }
      }
    }
  }

  private static void check(
      String template, List<Tool> tools, ToolChoice choice, String answer, String shown)
      throws Exception {
    ParsedAnswer parsed = ParsedAnswer.of(format(template).parser(true, ""), List.of(answer));
    String description = "%s: %s → %s".formatted(shown, answer, parsed);
    Tool called = null;
    for (AnswerPart part : parsed.parts()) {
      switch (part) {
        case AnswerPart.Call(String name) ->
            called = tools.stream().filter(tool -> tool.name().equals(name)).findAny().orElse(null);
        case AnswerPart.Arguments(String json) -> {
          assertThat(called).as(description).isNotNull();
          RandomTools.check(called, json);
        }
        case AnswerPart.Text _ -> assertThat(choice).as(description).isEqualTo(ToolChoice.AUTO);
        case AnswerPart.Reasoning _ -> assertThat(template).as(description).isEqualTo(THINKING);
      }
    }
    if (choice.equals(ToolChoice.REQUIRED)) {
      assertThat(called).as(description).isNotNull();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {HERMES, THINKING, LLAMA, MISTRAL, GEMMA, PYTHON})
  void what_keeps_to_no_calls_is_parsed_into_none(String template) {
    Grammar none = grammar(template, List.of(WEATHER), ToolChoice.NONE, true).orElseThrow();
    RandomWalk walk = new RandomWalk(none, new Random(5), liked(template));
    for (int i = 0; i < 300; i++) {
      String answer = walk.text();
      assertThat(ParsedAnswer.of(format(template).parser(true, ""), List.of(answer)).parts())
          .as(answer)
          .noneMatch(part -> part instanceof AnswerPart.Call);
    }
  }
}
