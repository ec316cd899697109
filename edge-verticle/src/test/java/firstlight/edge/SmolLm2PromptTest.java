package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.model.AnswerPart;
import firstlight.model.ChatMessage;
import firstlight.model.Grammar;
import firstlight.model.Model;
import firstlight.model.TestModels;
import firstlight.model.Tool;
import firstlight.model.ToolChoice;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import firstlight.protocol.Settings;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Goal: prompts have the lengths that cases B07, B11, B15 and B43 give for the real model. */
class SmolLm2PromptTest {
  private static EdgeConfig.Limits limits;
  private static EdgeModel model;

  @BeforeAll
  static void open() {
    Model real = TestModels.smollm2Model();
    limits = EdgeConfig.read(Settings.parse("open: true", _ -> null)).limits();
    model =
        new EdgeModel(
            real.name(),
            real.tokenizer(),
            real.template(),
            real.hyperparameters().contextLength(),
            "",
            0);
  }

  private static PromptBuilder.Prompts build(TurnPrompt prompt, OptionalInt outputMax) {
    return new PromptBuilder(limits)
        .build(request(prompt, outputMax), model, lengths(), Instant.EPOCH);
  }

  private static LengthLimits lengths() {
    TenantConfig tenant = TenantConfig.unlimited(new TenantId("t"), 1);
    return LengthLimits.of(model, model.contextMax(), tenant);
  }

  private static TurnRequest request(TurnPrompt prompt, OptionalInt outputMax) {
    return request(prompt, outputMax, AnswerForm.FREE);
  }

  private static TurnRequest request(TurnPrompt prompt, OptionalInt outputMax, AnswerForm form) {
    return new TurnRequest(
        new ResponseId("r"),
        new TenantId("t"),
        TurnOrigin.alone(
            new Caller(new TenantId("a"), "req_1", 0), ChatReader.DIALECT, false, TextPolicy.FULL),
        model.name(),
        List.of(prompt),
        1,
        Sampling.GREEDY,
        outputMax,
        List.of(),
        form,
        false,
        Urgency.NORMAL);
  }

  private static TurnPrompt chat(String messages) {
    Json json = new Json(limits);
    Fields body = new Fields(json.object(Buffer.buffer("{\"messages\":" + messages + "}")));
    return new TurnPrompt.Conversation(new ChatMessages(json, 100).read(body), List.of(), Map.of());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          [{"role":"user","content":"hello"}] | 31
          [{"role":"user","content":[{"type":"text","text":"hello"}]}] | 31
          [{"role":"user","content":"hi"},{"role":"assistant","content":"yo"},{"role":"user","content":"hello"}] | 44
          [{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"yo"}]},{"role":"user","content":"hello"}] | 44
          [{"role":"developer","content":"You are terse."},{"role":"user","content":"hello"}] | 20
          [{"role":"system","content":"You are terse."},{"role":"user","content":"hello"}] | 20
          [{"role":"user","content":"\\ud83e\\udd99"}] | 33
          """)
  void conversations_have_the_known_number_of_tokens(String messages, int tokens) {
    assertThat(build(chat(messages), OptionalInt.empty()).ids().getFirst()).hasSize(tokens);
  }

  @Test
  void the_context_is_used_to_its_last_position_and_no_further() {
    TurnPrompt longest = chat(hellos(8_161));
    assertThat(build(longest, OptionalInt.empty()).ids().getFirst()).hasSize(8_191);
    assertThat(build(longest, OptionalInt.of(2)).outputMax(0, request(longest, OptionalInt.of(2))))
        .isOne();
    for (int k : new int[] {8_162, 8_163, 20_000}) {
      assertThatThrownBy(() -> build(chat(hellos(k)), OptionalInt.of(1)))
          .isInstanceOfSatisfying(
              MeshException.class,
              e -> {
                assertThat(e.code()).isEqualTo("context_length_exceeded");
                assertThat(e.getMessage()).contains("8192", String.valueOf(30 + k));
              });
    }
  }

  private static String hellos(int k) {
    return "[{\"role\":\"user\",\"content\":\"hello" + " hello".repeat(k - 1) + "\"}]";
  }

  private static final Map<String, Object> PARAMETERS =
      Map.of("type", "object", "properties", Map.of("c", Map.of("enum", List.of("Oslo"))));
  private static final Tool TOOL =
      new Tool(
          "get_w",
          Map.of("type", "function", "function", Map.of("name", "get_w")),
          PARAMETERS,
          false);

  private static PromptBuilder.Prompts build(List<ChatMessage> messages, AnswerForm form) {
    TurnPrompt prompt =
        new TurnPrompt.Conversation(
            messages, form.tools().stream().map(Tool::definition).toList(), Map.of());
    return new PromptBuilder(limits)
        .build(request(prompt, OptionalInt.empty(), form), model, lengths(), Instant.EPOCH);
  }

  private static String text(PromptBuilder.Prompts prompts) {
    StringBuilder text = new StringBuilder();
    for (int id : prompts.ids().getFirst()) {
      byte[] bytes = model.tokenizer().bytes(id);
      text.append(
          model.tokenizer().isControl(id)
              ? model.tokenizer().text(id)
              : new String(bytes, StandardCharsets.UTF_8));
    }
    return text.toString();
  }

  @Test
  void a_session_with_tools_is_told_in_words_where_the_template_has_none() {
    Map<String, Object> call =
        Map.of("id", "1", "function", Map.of("name", "get_w", "arguments", Map.of("c", "Oslo")));
    List<ChatMessage> messages =
        List.of(
            new ChatMessage("system", "Be terse."),
            new ChatMessage("user", "Weather?"),
            new ChatMessage("assistant", "", List.of(call), null, null),
            new ChatMessage("tool", "sun", List.of(), "1", null));
    AnswerForm free = new AnswerForm(List.of(TOOL), ToolChoice.AUTO, true, Optional.empty());
    String prompt = text(build(messages, free));
    assertThat(prompt)
        .startsWith("<|im_start|>system\nBe terse.\n\nYou may call functions")
        .contains("\"name\":\"get_w\"")
        .endsWith(
            """
            <|im_start|>assistant
            <tool_call>
            {"name": "get_w", "arguments": {"c":"Oslo"}}
            </tool_call><|im_end|>
            <|im_start|>user
            <tool_response>
            sun
            </tool_response><|im_end|>
            <|im_start|>assistant
            """);
  }

  @Test
  void the_choice_of_tools_becomes_a_constraint_and_calls_are_parsed() {
    List<ChatMessage> messages = List.of(new ChatMessage("user", "Weather?"));
    AnswerForm free = new AnswerForm(List.of(TOOL), ToolChoice.AUTO, true, Optional.empty());
    assertThat(build(messages, free).constraint()).isEmpty();
    AnswerForm required =
        new AnswerForm(List.of(TOOL), ToolChoice.REQUIRED, true, Optional.empty());
    PromptBuilder.Prompts prompts = build(messages, required);
    assertThat(prompts.constraint()).contains("<tool_call>", "Oslo");
    String answer = "<tool_call>{\"name\":\"get_w\",\"arguments\":{}}</tool_call>";
    assertThat(prompts.parsers().get().next(answer))
        .containsExactly(new AnswerPart.Call("get_w"), new AnswerPart.Arguments("{}"));
    AnswerForm none = new AnswerForm(List.of(TOOL), ToolChoice.NONE, true, Optional.empty());
    assertThat(build(messages, none).parsers().get().next(answer))
        .containsExactly(new AnswerPart.Text(answer));
    ToolChoice unknown = ToolChoice.named("x");
    assertThatThrownBy(
            () -> build(messages, new AnswerForm(List.of(TOOL), unknown, true, Optional.empty())))
        .isInstanceOf(MeshException.class)
        .hasMessageContaining("there is no tool 'x'");
  }

  @Test
  void a_form_of_the_text_is_kept_to_with_and_without_a_template() {
    TextForm text = new TextForm("response_format", () -> Grammar.parse("root ::= \"yes\"\n"));
    AnswerForm form = AnswerForm.ofText(Optional.of(text));
    assertThat(build(List.of(new ChatMessage("user", "Sure?")), form).constraint())
        .contains("\"yes\"");
    TurnRequest raw = request(new TurnPrompt.Text("Sure?"), OptionalInt.empty(), form);
    assertThat(new PromptBuilder(limits).build(raw, model, lengths(), Instant.EPOCH).constraint())
        .isEqualTo("root ::= \"yes\"\n");
  }
}
