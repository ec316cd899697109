package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.protocol.wire.Submit;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Goal: POST /v1/completions over the wire. Method: a real edge before a fake replica. */
class CompletionsHttpTest {
  private EdgeFixture edge;

  @BeforeEach
  void start() throws Exception {
    edge = new EdgeFixture("");
  }

  @AfterEach
  void stop() throws Exception {
    edge.close();
  }

  @Test
  void a_prompt_is_continued_and_everything_is_counted() throws Exception {
    edge.saying("world");
    edge.replica.cached(4);

    JsonNode answer = edge.completion("\"prompt\":\"hello \",\"max_tokens\":20").json();

    assertThat(answer.get("object").asText()).isEqualTo("text_completion");
    assertThat(answer.at("/choices/0/text").asText()).isEqualTo("world");
    assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(answer.at("/usage/prompt_tokens").asInt()).isEqualTo(6);
    assertThat(answer.at("/usage/prompt_tokens_details/cached_tokens").asInt()).isEqualTo(4);
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(6);
    assertThat(answer.at("/usage/total_tokens").asInt()).isEqualTo(12);
    Submit submit = edge.replica.nextSubmit();
    assertThat(submit.getTenant()).isEqualTo("a");
    assertThat(submit.getStopTokensList()).containsExactly(ByteTokenizer.END);
  }

  @Test
  void a_stream_has_the_same_text_and_ends_once() throws Exception {
    edge.saying("wörld 🦙");

    List<String> data =
        edge.completion("\"prompt\":\"x\",\"max_tokens\":40,\"stream\":true").data();

    assertThat(data.getLast()).isEqualTo("[DONE]");
    StringBuilder text = new StringBuilder();
    int endings = 0;
    for (String chunk : data.subList(0, data.size() - 1)) {
      JsonNode choice = new ObjectMapper().readTree(chunk).at("/choices/0");
      text.append(choice.get("text").asText());
      endings += choice.get("finish_reason").isNull() ? 0 : 1;
    }
    assertThat(text.toString()).isEqualTo("wörld 🦙");
    assertThat(endings).isOne();
  }
}
