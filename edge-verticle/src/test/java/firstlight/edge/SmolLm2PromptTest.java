package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.model.Model;
import firstlight.model.TestModels;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import firstlight.protocol.Settings;
import firstlight.protocol.TenantId;
import io.vertx.core.buffer.Buffer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
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
    return new TurnRequest(
        new ResponseId("r"),
        new TenantId("t"),
        ChatReader.DIALECT,
        null,
        model.name(),
        List.of(prompt),
        1,
        Sampling.GREEDY,
        outputMax,
        List.of(),
        AnswerForm.FREE,
        false,
        Urgency.NORMAL,
        false,
        false,
        "");
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
}
