package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.protocol.wire.Submit;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Goal: POST /v1/completions over the wire. Method: a real edge before a fake replica. */
class CompletionsHttpTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture("");
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  @AfterEach
  void forget() {
    edge.replica.forget();
    edge.events.clear();
  }

  @Test
  void a_prompt_is_continued_and_everything_is_counted() throws Exception {
    edge.saying("world");
    edge.replica.cached(4);

    JsonNode answer = edge.completion("\"prompt\":\"hello \",\"max_tokens\":20").json();

    assertThat(answer.get("object").asText()).isEqualTo("text_completion");
    assertThat(answer.at("/choices/0/text").asText()).isEqualTo("world");
    assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(answer.at("/choices/0/logprobs").isNull()).isTrue();
    assertThat(answer.at("/usage/prompt_tokens").asInt()).isEqualTo(6);
    assertThat(answer.at("/usage/prompt_tokens_details/cached_tokens").asInt()).isEqualTo(4);
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(6);
    assertThat(answer.at("/usage/total_tokens").asInt()).isEqualTo(12);
    Submit submit = edge.replica.nextSubmit();
    assertThat(submit.getTenant()).isEqualTo("a");
    assertThat(submit.getStopTokensList()).containsExactly(ByteTokenizer.END);
    var event = edge.eventOf(answer.get("id").asText());
    assertThat(event.getStatus()).isEqualTo("completed");
    assertThat(event.getDialect()).isEqualTo("completions");
    assertThat(event.getOutput()).isEqualTo("world");
    assertThat(event.getReplica()).isEqualTo("r1");
    assertThat(event.getModelDigest()).isEqualTo("d1");
    assertThat(List.of(event.getPromptTokens(), event.getCachedTokens(), event.getOutputTokens()))
        .containsExactly(6, 4, 6);
    assertThat(event.getGenerations(0).getTokenIdsCount()).isEqualTo(6);
    edge.replica.cached(0);
  }

  @Test
  void a_stream_has_the_same_text_whole_characters_and_one_end() throws Exception {
    String text = "  wörld 🦙 \u2028 日本語 ";
    edge.saying(text);
    String body = "\"prompt\":\"x\",\"max_tokens\":60";
    assertThat(edge.completion(body).json().at("/choices/0/text").asText()).isEqualTo(text);

    EdgeFixture.Answer streamed = edge.completion(body + ",\"stream\":true");

    assertThat(streamed.header("content-type")).startsWith("text/event-stream");
    List<String> data = streamed.data();
    assertThat(data.getLast()).isEqualTo("[DONE]");
    StringBuilder joined = new StringBuilder();
    int endings = 0;
    Set<String> heads = new HashSet<>();
    for (String chunk : data.subList(0, data.size() - 1)) {
      assertThat(chunk).doesNotContain("\u2028", "\ufffd");
      JsonNode json = MAPPER.readTree(chunk);
      heads.add(json.get("id") + "" + json.get("object") + json.get("created") + json.get("model"));
      assertThat(json.has("usage")).isFalse();
      joined.append(json.at("/choices/0/text").asText());
      endings += json.at("/choices/0/finish_reason").isNull() ? 0 : 1;
    }
    assertThat(joined.toString()).isEqualTo(text);
    assertThat(endings).isOne();
    assertThat(heads).hasSize(1);
  }

  @Test
  void max_tokens_is_kept_to_the_token_in_both_modes() throws Exception {
    edge.saying("abcdefghijklmnopqrstuvwxyz");
    for (int k : new int[] {1, 2, 5, 20}) {
      String body = "\"prompt\":\"x\",\"max_tokens\":" + k;
      JsonNode whole = edge.completion(body).json();
      assertThat(whole.at("/usage/completion_tokens").asInt()).isEqualTo(k);
      assertThat(whole.at("/choices/0/finish_reason").asText()).isEqualTo("length");
      List<String> data =
          edge.completion(body + ",\"stream\":true,\"stream_options\":{\"include_usage\":true}")
              .data();
      JsonNode usage = MAPPER.readTree(data.get(data.size() - 2));
      assertThat(usage.at("/usage/completion_tokens").asInt()).isEqualTo(k);
      assertThat(usage.get("choices")).isEmpty();
    }
  }

  @Test
  void the_output_ends_with_the_context_and_a_prompt_that_fills_it_is_refused() throws Exception {
    edge.saying("y".repeat(200));
    int context = FakeReplica.CONTEXT;

    JsonNode last =
        edge.completion("\"max_tokens\":2,\"prompt\":\"" + "x".repeat(context - 1) + "\"").json();
    assertThat(last.at("/usage/completion_tokens").asInt()).isOne();
    assertThat(last.at("/choices/0/finish_reason").asText()).isEqualTo("length");

    for (int length : new int[] {context, context + 1, 100_000}) {
      EdgeFixture.Answer refused =
          edge.completion("\"max_tokens\":1,\"prompt\":\"" + "x".repeat(length) + "\"");
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.json().at("/error/code").asText()).isEqualTo("context_length_exceeded");
      assertThat(refused.json().at("/error/message").asText()).contains("64");
    }
  }

  @Test
  void token_ids_go_in_and_come_out() throws Exception {
    edge.saying("ok");

    JsonNode answer =
        edge.completion("\"prompt\":[104,105],\"max_tokens\":9,\"return_token_ids\":true").json();

    assertThat(edge.replica.nextSubmit().getPromptList()).containsExactly(104, 105);
    assertThat(answer.at("/choices/0/prompt_token_ids").toString()).isEqualTo("[104,105]");
    assertThat(answer.at("/choices/0/token_ids").toString()).isEqualTo("[111,107,256]");
  }

  @Test
  void an_echo_has_the_prompt_before_each_answer_in_both_modes() throws Exception {
    edge.saying("ok");
    String fields = "\"prompt\":[\"höh \",\"b\"],\"n\":2,\"echo\":true,\"max_tokens\":9";
    JsonNode whole = edge.completion(fields).json();
    List<String> texts = whole.findValuesAsText("text");
    assertThat(texts).containsExactly("höh ok", "höh ok", "bok", "bok");

    List<StringBuilder> streamed =
        List.of(new StringBuilder(), new StringBuilder(), new StringBuilder(), new StringBuilder());
    for (String chunk : edge.completion(fields + ",\"stream\":true").data()) {
      if (!chunk.equals("[DONE]")) {
        JsonNode choice = MAPPER.readTree(chunk).at("/choices/0");
        streamed.get(choice.get("index").asInt()).append(choice.get("text").asText());
      }
    }
    assertThat(streamed).extracting(StringBuilder::toString).isEqualTo(texts);
  }

  @Test
  void an_echo_of_token_ids_is_their_text() throws Exception {
    edge.saying("ok");
    String fields = "\"prompt\":[257,258,259,104],\"echo\":true,\"max_tokens\":9";

    assertThat(edge.completion(fields).json().at("/choices/0/text").asText())
        .isEqualTo("<|begin|>🦙hok");
  }

  @Test
  void several_prompts_with_several_choices_are_numbered_and_counted_once() throws Exception {
    edge.saying("abcdefgh");

    JsonNode answer =
        edge.completion("\"prompt\":[\"x\",\"yy\"],\"n\":3,\"max_tokens\":5,\"seed\":7").json();

    assertThat(answer.get("choices")).hasSize(6);
    for (int i = 0; i < 6; i++) {
      assertThat(answer.at("/choices/" + i + "/index").asInt()).isEqualTo(i);
    }
    assertThat(answer.at("/usage/prompt_tokens").asInt()).isEqualTo(3);
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(30);
    Set<Long> seeds = new HashSet<>();
    List<Integer> lengths = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Submit submit = edge.replica.nextSubmit();
      seeds.add(submit.getSampling().getSeed());
      lengths.add(submit.getPromptCount());
    }
    assertThat(seeds).hasSize(6).contains(7L);
    assertThat(lengths).containsExactly(1, 1, 1, 2, 2, 2);
  }

  @Test
  void the_same_seed_gives_the_same_generations_and_no_seed_others() throws Exception {
    edge.saying("a");
    List<Long> seeds = new ArrayList<>();
    for (String seed : List.of(",\"seed\":7", ",\"seed\":7", "", "")) {
      edge.completion("\"prompt\":\"x\",\"max_tokens\":1" + seed);
      seeds.add(edge.replica.nextSubmit().getSampling().getSeed());
    }

    assertThat(seeds.get(0)).isEqualTo(seeds.get(1)).isEqualTo(7);
    assertThat(seeds.get(2)).isNotEqualTo(seeds.get(3));
  }

  @Test
  void log_probabilities_keep_tokens_of_half_characters_apart() throws Exception {
    edge.replica.answering(
        _ -> new int[] {ByteTokenizer.LLAMA_HEAD, ByteTokenizer.LLAMA_TAIL, '!'});

    JsonNode choice =
        edge.completion("\"prompt\":\"x\",\"max_tokens\":3,\"logprobs\":2").json().at("/choices/0");

    assertThat(choice.get("text").asText()).isEqualTo("🦙!");
    assertThat(choice.at("/logprobs/tokens").toString())
        .isEqualTo("[\"bytes:\\\\xf0\\\\x9f\",\"bytes:\\\\xa6\\\\x99\",\"!\"]");
    assertThat(choice.at("/logprobs/token_logprobs")).hasSize(3);
    assertThat(choice.at("/logprobs/top_logprobs/2").size()).isEqualTo(2);
    assertThat(choice.at("/logprobs/text_offset").toString()).isEqualTo("[0,0,2]");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    edge.replica.answering(_ -> new int[] {ByteTokenizer.LLAMA_HEAD, ByteTokenizer.LLAMA_TAIL});
    for (String chunk :
        edge.completion("\"prompt\":\"x\",\"max_tokens\":2,\"stream\":true").data()) {
      if (!chunk.equals("[DONE]")) {
        byte[] text =
            MAPPER.readTree(chunk).at("/choices/0/text").asText().getBytes(StandardCharsets.UTF_8);
        assertThat(text.length).as("half a character is not sent").isIn(0, 4);
        bytes.writeBytes(text);
      }
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo("🦙");
  }
}
