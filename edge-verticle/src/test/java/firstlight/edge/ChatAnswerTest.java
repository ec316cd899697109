package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.protocol.FinishReason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Goal: a streamed message is the plain one, however the text comes. Cases B29 and B31. */
class ChatAnswerTest {
  private static final String CALLS = "[hm, two]<w|{\"c\":1}><v|{}>";

  private static ChatAnswer answer() {
    return new ChatAnswer(new MarkedParser(), call -> "call_" + call);
  }

  /** Puts a message together as OpenAI's clients do: strings of one place are joined. */
  private static ObjectNode joined(List<ObjectNode> deltas) {
    ObjectNode message = Json.object();
    for (ObjectNode delta : deltas) {
      for (String name : List.of("content", "reasoning_content")) {
        if (delta.has(name)) {
          message.put(name, message.path(name).asText() + delta.get(name).asText());
        }
      }
      for (JsonNode piece : delta.path("tool_calls")) {
        int index = piece.get("index").asInt();
        if (message.withArray("tool_calls").size() == index) {
          ObjectNode call = message.withArray("tool_calls").addObject();
          call.set("id", piece.get("id"));
          call.set("type", piece.get("type"));
          call.set("function", piece.get("function").deepCopy());
        } else {
          assertThat(piece.has("id")).as("only the first piece of a call has its id").isFalse();
          ObjectNode function = (ObjectNode) message.at("/tool_calls/" + index + "/function");
          String more = piece.at("/function/arguments").asText();
          function.put("arguments", function.get("arguments").asText() + more);
        }
      }
    }
    return message;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plain text",
        CALLS,
        "first «w|{\"c\":\"x\"}»",
        "‹only thoughts›",
        "«never a call"
      })
  void every_split_of_the_text_gives_the_same_message(String text) {
    ObjectNode whole = answer().message(text);
    for (int cut = 0; cut <= text.length(); cut++) {
      ChatAnswer streamed = answer();
      List<ObjectNode> deltas = new ArrayList<>(streamed.deltas(text.substring(0, cut)));
      deltas.addAll(streamed.deltas(text.substring(cut)));
      deltas.addAll(streamed.lastDeltas());

      ObjectNode message = joined(deltas);

      assertThat(message.path("content").asText()).isEqualTo(whole.get("content").asText(""));
      assertThat(message.get("reasoning_content")).isEqualTo(whole.get("reasoning_content"));
      assertThat(message.get("tool_calls")).isEqualTo(whole.get("tool_calls"));
    }
  }

  @Test
  void calls_are_numbered_and_each_has_an_id_of_its_own() {
    JsonNode message = answer().message(CALLS);

    assertThat(message.get("content").isNull()).isTrue();
    assertThat(message.get("reasoning_content").asText()).isEqualTo("hm, two");
    assertThat(message.at("/tool_calls/0/function").toString())
        .isEqualTo("{\"name\":\"w\",\"arguments\":\"{\\\"c\\\":1}\"}");
    assertThat(message.at("/tool_calls/0/type").asText()).isEqualTo("function");
    assertThat(message.at("/tool_calls/1/function/name").asText()).isEqualTo("v");
    assertThat(message.at("/tool_calls/0/id").asText())
        .startsWith("call_")
        .isNotEqualTo(message.at("/tool_calls/1/id").asText());
  }

  @Test
  void an_answer_without_calls_has_text_even_if_it_is_empty() {
    ObjectNode message = new ChatAnswer(AnswerParser.plain(), call -> "call_" + call).message("");

    assertThat(message.get("content").asText()).isEmpty();
    assertThat(message.get("content").isNull()).isFalse();
    assertThat(message.has("tool_calls")).isFalse();
  }

  @Test
  void a_call_is_the_reason_of_the_end_unless_the_answer_was_cut() {
    ChatAnswer called = answer();
    called.deltas(CALLS);

    assertThat(called.reason(FinishReason.END)).isEqualTo("tool_calls");
    assertThat(called.reason(FinishReason.LENGTH)).isEqualTo("length");
    assertThat(answer().reason(FinishReason.END)).isEqualTo("stop");
  }
}
