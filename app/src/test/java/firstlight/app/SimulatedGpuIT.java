package firstlight.app;

import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.COMPLETIONS;
import static firstlight.app.Served.SMOLLM2;
import static firstlight.app.Served.chat;
import static firstlight.app.Served.completion;
import static firstlight.app.Served.ids;
import static firstlight.app.Served.text;
import static firstlight.app.SimulatedNode.NEIGHBOUR;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import firstlight.gpu.cuda.SimulatedControl.Fault;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole system with its models on a GPU, which is simulated, and which fails in every way. */
@ExtendWith(SharedFirstlight.class)
class SimulatedGpuIT {
  private static final int OUT_OF_MEMORY = 2;
  private static final int LAUNCH_FAILED = 719;
  private static final int TOKENS = 8;
  private static final int FEW = 3;

  /** Whose most likely tokens are far ahead of the next, so that no rounding decides. */
  private static final String LETTERS = "a b c d e f g";

  private static final List<String> PLAIN = List.of("1, 2, 3, 4,", "cat dog cat dog cat dog");
  private static final List<String> STREAMED = List.of("0 1 2 3 4 5", LETTERS);

  private static SimulatedNode node;
  private static Served simulated;

  @RegisterExtension
  static final AfterTestExecutionCallback SHOW =
      test -> test.getExecutionException().ifPresent(_ -> System.err.println(simulated.log()));

  @BeforeAll
  static void start() throws Exception {
    SimulatedNode.require();
    node = SimulatedNode.start(1, 0);
    simulated = node.served();
  }

  @AfterAll
  static void stop() {
    if (node != null) {
      node.close();
    }
  }

  private static ObjectNode prompt(String text, int tokens) {
    return completion(SMOLLM2, text, tokens).put("return_token_ids", true);
  }

  private static ObjectNode prompt(String text) {
    return prompt(text, TOKENS);
  }

  private static List<Integer> tokens(JsonNode answer) {
    return ids(answer.at("/choices/0/token_ids"));
  }

  private static List<Integer> tokens(Sse stream) {
    assertThat(stream.status()).isEqualTo(200);
    List<Integer> tokens = new ArrayList<>();
    stream.events().forEach(event -> tokens.addAll(tokens(event)));
    return tokens;
  }

  @Test
  void the_log_names_the_gpu() {
    assertThat(simulated.log()).contains("smollm2-135m is on GPU 0, SIMULATED (CPU), after ");
  }

  @Test
  void its_tokens_are_those_of_the_cpu_device(Served cpu) throws Exception {
    List<CompletableFuture<Sse>> streams =
        STREAMED.stream().map(text -> simulated.streamLater(COMPLETIONS, prompt(text))).toList();
    List<JsonNode> answers =
        simulated.crowd(COMPLETIONS, PLAIN.stream().map(SimulatedGpuIT::prompt).toList());
    for (int i = 0; i < PLAIN.size(); i++) {
      assertThat(tokens(answers.get(i)))
          .as(PLAIN.get(i))
          .hasSize(TOKENS)
          .isEqualTo(tokens(cpu.ok(COMPLETIONS, prompt(PLAIN.get(i)))));
    }
    for (int i = 0; i < STREAMED.size(); i++) {
      assertThat(tokens(streams.get(i).get()))
          .as(STREAMED.get(i))
          .hasSize(TOKENS)
          .isEqualTo(tokens(cpu.ok(COMPLETIONS, prompt(STREAMED.get(i)))));
    }
  }

  @Test
  void a_chat_on_it_says_what_the_cpu_device_says(Served cpu) throws Exception {
    ObjectNode body = chat("Count from 1 to 10.", TOKENS);
    assertThat(text(simulated.ok(CHAT, body))).isEqualTo(text(cpu.ok(CHAT, body)));
  }

  /**
   * The second model is on the same GPU and is asked nothing, so that it does not notice.
   *
   * @param again what fails when the device is opened again, the first time; 0: nothing
   */
  @ParameterizedTest
  @CsvSource({
    LAUNCH_FAILED + ", 0, device_launch_failed",
    LAUNCH_FAILED + ", " + OUT_OF_MEMORY + ", device_launch_failed",
    "999, 0, device_lost",
    "46, 0, device_lost",
    OUT_OF_MEMORY + ", 0, device_out_of_memory"
  })
  void a_failure_is_named_in_the_stream_and_the_device_is_opened_again(
      int result, int again, String code) throws Exception {
    List<Integer> before = tokens(node.answerSoon(prompt(LETTERS, FEW)));
    List<ProcessHandle> services = node.handle().descendants().toList();

    JsonNode last = failing(new Fault(result, 1), new Fault(again, 1));

    assertThat(last.at("/error/code").asText()).as("%s", last).isEqualTo(code);
    assertThat(last.at("/error/type").asText()).isEqualTo("server_error");
    assertThat(tokens(node.answerSoon(prompt(LETTERS, FEW)))).isEqualTo(before);
    node.answerSoon(completion(NEIGHBOUR, LETTERS, 1));
    assertThat(node.control().pending()).isFalse();
    assertThat(node.handle().isAlive()).isTrue();
    assertThat(services).isNotEmpty().allMatch(ProcessHandle::isAlive);
    assertThat(simulated.a().get("/health/ready").status()).isEqualTo(200);
    assertThat(simulated.log()).doesNotContain("Unhandled exception");
  }

  /** The last event of a stream during which calls fail. */
  private static JsonNode failing(Fault... faults) throws Exception {
    ObjectNode body = completion(SMOLLM2, "1, 2, 3, 4,", 200).put("stream", true);
    Iterator<JsonNode> events = node.stream(body);
    JsonNode last = events.next();
    node.control().inject(faults);
    // A prompt that is longer than any before it: its graph is yet to be made.
    CompletableFuture<Answer> other =
        simulated.a().sendLater(COMPLETIONS, completion(SMOLLM2, "cat dog ".repeat(10), 1));
    while (events.hasNext()) {
      last = events.next();
    }
    assertThat(other.get().status()).isIn(200, 503);
    return last;
  }
}
