package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Goal: POST /v1/chat/completions over the wire. Cases B06, B07, B11, B12, B14, B22, B23, B79. */
class ChatHttpTest {
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
  }

  /** What the template made of the messages, as text. */
  private static String prompt(String messages) throws Exception {
    return prompt(messages, "");
  }

  private static String prompt(String messages, String more) throws Exception {
    edge.replica.forget();
    EdgeFixture.Answer answer =
        edge.post(
            "/v1/chat/completions",
            "{\"model\":\"bytes\",\"max_tokens\":1,\"messages\":" + messages + more + "}");
    assertThat(answer.status()).as(answer.http().body()).isEqualTo(200);
    return edge.promptOf(edge.replica.nextSubmit());
  }

  @Test
  void a_conversation_is_answered() throws Exception {
    edge.saying("Hello!");

    JsonNode answer = edge.chat("").json();

    assertThat(answer.get("object").asText()).isEqualTo("chat.completion");
    assertThat(answer.get("id").asText()).startsWith("chatcmpl-");
    assertThat(answer.at("/choices/0/message/role").asText()).isEqualTo("assistant");
    assertThat(answer.at("/choices/0/message/content").asText()).isEqualTo("Hello!");
    assertThat(answer.at("/choices/0/message/refusal").isNull()).isTrue();
    assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(answer.at("/choices/0/logprobs").isNull()).isTrue();
    assertThat(answer.at("/usage/total_tokens").asInt())
        .isEqualTo(answer.at("/usage/prompt_tokens").asInt() + 7);
    assertThat(edge.replica.nextSubmit().getOutputMax())
        .as("without a limit an answer may fill the context")
        .isEqualTo(FakeReplica.CONTEXT - answer.at("/usage/prompt_tokens").asInt());
    assertThat(edge.eventOf(answer.get("id").asText()).getInputMessages(0).getText())
        .isEqualTo("hi");
  }

  @Test
  void a_stream_follows_its_grammar_for_every_choice() throws Exception {
    edge.saying("ab cd");

    List<String> data =
        edge.chat(",\"n\":2,\"stream\":true,\"stream_options\":{\"include_usage\":true}").data();

    assertThat(data.getLast()).isEqualTo("[DONE]");
    Map<Integer, StringBuilder> texts = new HashMap<>();
    Set<Integer> ended = new HashSet<>();
    Set<String> heads = new HashSet<>();
    List<String> chunks = data.subList(0, data.size() - 2);
    for (String chunk : chunks) {
      JsonNode json = MAPPER.readTree(chunk);
      JsonNode choice = json.at("/choices/0");
      int index = choice.get("index").asInt();
      heads.add(json.get("id") + "" + json.get("object") + json.get("created") + json.get("model"));
      assertThat(json.get("usage").isNull()).isTrue();
      assertThat(ended).as("nothing comes after an end").doesNotContain(index);
      if (!texts.containsKey(index)) {
        assertThat(choice.at("/delta/role").asText()).isEqualTo("assistant");
        texts.put(index, new StringBuilder());
      }
      texts.get(index).append(choice.at("/delta/content").asText());
      if (!choice.get("finish_reason").isNull()) {
        assertThat(choice.get("finish_reason").asText()).isEqualTo("stop");
        ended.add(index);
      }
    }
    assertThat(texts.values())
        .extracting(StringBuilder::toString)
        .containsExactly("ab cd", "ab cd");
    assertThat(ended).containsExactly(0, 1);
    JsonNode usage = MAPPER.readTree(data.get(data.size() - 2));
    assertThat(usage.get("choices")).isEmpty();
    assertThat(usage.at("/usage/completion_tokens").asInt()).isEqualTo(12);
    heads.add(
        usage.get("id") + "" + usage.get("object") + usage.get("created") + usage.get("model"));
    assertThat(heads).hasSize(1).first().asString().contains("chat.completion.chunk");
  }

  @Test
  void log_probabilities_have_the_true_bytes_in_both_modes() throws Exception {
    edge.replica.answering(
        _ -> new int[] {'a', ByteTokenizer.LLAMA_HEAD, ByteTokenizer.LLAMA_TAIL, 256});
    String more = ",\"logprobs\":true,\"top_logprobs\":5";

    JsonNode whole = edge.chat(more).json().at("/choices/0");

    assertThat(whole.at("/message/content").asText()).isEqualTo("a🦙");
    JsonNode entries = whole.at("/logprobs/content");
    assertThat(entries).hasSize(4);
    assertThat(entries.get(1).get("bytes").toString()).isEqualTo("[240,159]");
    assertThat(entries.get(1).get("token").asText()).isEqualTo("bytes:\\xf0\\x9f");
    assertThat(entries.get(3).get("token").asText()).isEqualTo("<|end|>");
    assertThat(entries.get(3).get("bytes")).isEmpty();
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    for (JsonNode entry : entries) {
      assertThat(entry.get("top_logprobs")).hasSize(5);
      entry.get("bytes").forEach(b -> joined.write(b.asInt()));
    }
    assertThat(joined.toString(StandardCharsets.UTF_8)).isEqualTo("a🦙");

    int streamed = 0;
    for (String chunk : edge.chat(more + ",\"stream\":true").data()) {
      if (!chunk.equals("[DONE]")) {
        streamed += MAPPER.readTree(chunk).at("/choices/0/logprobs/content").size();
      }
    }
    assertThat(streamed).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          [{"role":"user","content":"hello"}] | [user]hello[assistant]
          [{"role":"user","content":[{"type":"text","text":"hello"}]}] | [user]hello[assistant]
          [{"role":"user","content":[{"type":"text","text":"hel"},{"type":"text","text":"lo"}]}] | [user]hello[assistant]
          [{"role":"developer","content":"terse"},{"role":"user","content":"x"}] | [system]terse[user]x[assistant]
          [{"role":"user","content":"A"},{"role":"assistant","content":""},{"role":"user","content":"B"}] | [user]A[assistant][user]B[assistant]
          [{"role":"user","content":"w?"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{\\"c\\":1}"}}]},{"role":"tool","tool_call_id":"c","content":"ok"}] | [user]w?[assistant][tool]ok[assistant]
          [{"role":"user","content":"w?"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"[[[["}}]},{"role":"tool","content":"ok"}] | [user]w?[assistant][tool]ok[assistant]
          """)
  void every_shape_of_content_reaches_the_template_as_text(String messages, String expected)
      throws Exception {
    edge.saying("k");

    assertThat(prompt(messages)).isEqualTo(expected);
  }

  @Test
  void the_newer_name_of_the_output_limit_wins() throws Exception {
    edge.saying("abcdefgh");

    JsonNode answer = edge.chat(",\"max_tokens\":50,\"max_completion_tokens\":2").json();

    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(2);
    assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("length");
  }

  @Test
  void a_template_that_refuses_gives_its_own_sentence() throws Exception {
    for (String more : List.of("", ",\"stream\":true")) {
      EdgeFixture.Answer answer =
          edge.post(
              "/v1/chat/completions",
              "{\"model\":\"bytes\",\"messages\":[{\"role\":\"user\",\"content\":\"refuse me\"}]"
                  + more
                  + "}");

      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.json().at("/error/message").asText()).contains("Not this one!");
      assertThat(answer.json().at("/error/param").asText()).isEqualTo("messages");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          "messages":[] | messages
          "messages":"hi" | messages
          "messages":[{"content":"x"}] | messages[0].role
          "messages":[{"role":"wizard","content":"x"}] | messages[0].role
          "messages":[{"role":"user"}] | messages[0].content
          "messages":[{"role":"user","content":7}] | messages[0].content
          "messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://127.0.0.1:9/a"}}]}] | messages[0].content[0]
          "messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}] | messages[0].content[0]
          "messages":[{"role":"user","content":"emoji \\ud83d"}] | messages[0].content
          "messages":[{"role":"user","content":"x"}],"top_logprobs":21 | top_logprobs
          "messages":[{"role":"user","content":"x"}],"top_logprobs":2 | top_logprobs
          "messages":[{"role":"user","content":"x"}],"logprobs":5 | logprobs
          "messages":[{"role":"user","content":"x"}],"chat_template":"{{ 1 }}" | chat_template
          "messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"chat_template":"x"} | chat_template_kwargs.chat_template
          "messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}] | tools[0].function
          "messages":[{"role":"user","content":"x"}],"max_completion_tokens":0 | max_completion_tokens
          """)
  void what_cannot_be_honoured_is_refused_by_name(String fields, String param) throws Exception {
    for (String more : List.of("", ",\"stream\":true")) {
      EdgeFixture.Answer answer =
          edge.post("/v1/chat/completions", "{\"model\":\"bytes\"," + fields + more + "}");

      assertThat(answer.status()).as(answer.http().body()).isEqualTo(400);
      assertThat(answer.json().at("/error/param").asText()).isEqualTo(param);
    }
  }

  @Test
  void reserved_names_of_the_template_can_not_be_overridden() throws Exception {
    edge.saying("k");
    EdgeFixture.Answer answer =
        edge.chat(",\"chat_template_kwargs\":{\"messages\":[],\"add_generation_prompt\":false}");

    assertThat(answer.status()).isEqualTo(400);
  }

  @Test
  void very_long_conversations_have_a_limit() throws Exception {
    String turn = "{\"role\":\"user\",\"content\":\"x\"}";
    EdgeFixture.Answer answer =
        edge.post(
            "/v1/chat/completions",
            "{\"model\":\"bytes\",\"messages\":[" + (turn + ",").repeat(19_999) + turn + "]}");

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.json().at("/error/param").asText()).isEqualTo("messages");
  }
}
