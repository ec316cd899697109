package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import firstlight.protocol.Usage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReasoningTokensTest {
  private static List<TurnToken> tokens(String text) {
    return Stream.of(text.split("\\."))
        .map(piece -> piece.getBytes(StandardCharsets.UTF_8))
        .map(bytes -> new TurnToken(1, bytes, 0, List.of()))
        .toList();
  }

  /** Tokens end at points; the marker that closes counts, one that opens does not. */
  @ParameterizedTest
  @CsvSource({"a.b,0", "[h.m.].a,3", "[.h.m].a,2", "a.[b.c.d,3", "[a.].b.[c,3", "[é.].<f|{}>,2"})
  void those_of_the_reasoning_are_counted(String answer, int count) {
    ReasoningTokens reasoning = new ReasoningTokens(new MarkedParser());
    tokens(answer).forEach(token -> reasoning.add(List.of(token)));
    assertThat(reasoning.count()).isEqualTo(count);

    ReasoningTokens atOnce = new ReasoningTokens(new MarkedParser());
    atOnce.add(tokens(answer));
    assertThat(atOnce.count()).isEqualTo(count);
  }

  @Test
  void the_usage_of_a_chat_has_those_of_all_its_answers() {
    TurnPrompt prompt = new TurnPrompt.Conversation(List.of(), List.of(), Map.of());
    TurnRequest turn =
        new TurnRequest(
            new ResponseId("r"),
            new TenantId("t"),
            TurnOrigin.alone(
                new Caller(new TenantId("a"), "req_1", 0),
                ChatReader.DIALECT,
                false,
                TextPolicy.FULL),
            "m",
            List.of(prompt),
            2,
            Sampling.GREEDY,
            OptionalInt.empty(),
            List.of(),
            AnswerForm.FREE,
            false,
            Urgency.NORMAL);
    CompletionRequest request =
        new CompletionRequest(turn, true, false, false, Optional.empty(), List.of());
    TokenText names = TokenText.of(new EdgeModels(List.of()), "m");
    ChatWriter writer = new ChatWriter(request, 0, names);
    writer.started(new TurnEvent.Started(List.of(new int[] {1}), MarkedParser::new));
    writer.count(new TurnEvent.Delta(0, "", tokens("[h.m.].a")));
    writer.count(new TurnEvent.Delta(1, "", tokens("[h")));

    ObjectNode chunk = writer.usageChunk(new Usage(1, 0, 5));

    assertThat(chunk.at("/usage/completion_tokens_details/reasoning_tokens").asInt()).isEqualTo(4);
  }
}
