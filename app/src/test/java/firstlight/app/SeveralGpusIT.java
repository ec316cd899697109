package firstlight.app;

import static firstlight.app.Served.COMPLETIONS;
import static firstlight.app.Served.SMOLLM2;
import static firstlight.app.Served.completion;
import static firstlight.app.Served.ids;
import static firstlight.app.SimulatedNode.NEIGHBOUR;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import firstlight.gpu.cuda.SimulatedControl.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole system on two simulated GPUs, of which it uses both without being told. */
class SeveralGpusIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int OUT_OF_MEMORY = 2;
  private static final int LAUNCH_FAILED = 719;
  private static final int GPUS = 2;

  private static final int TOKENS = 12;
  private static final int FEW = 3;

  private static SimulatedNode node;
  private static Served served;

  @RegisterExtension
  static final AfterTestExecutionCallback SHOW =
      test -> test.getExecutionException().ifPresent(_ -> System.err.println(served.log()));

  @BeforeAll
  static void start() throws Exception {
    SimulatedNode.require();
    node = SimulatedNode.start(GPUS, 4);
    served = node.served();
  }

  @AfterAll
  static void stop() {
    if (node != null) {
      node.close();
    }
  }

  private static ObjectNode prompt(int tokens) {
    return completion(SMOLLM2, "1, 2, 3, 4,", tokens)
        .put("return_token_ids", true)
        .put("stream", true);
  }

  /** A stream whose first event is there already. */
  private static Iterator<JsonNode> begun(ObjectNode body) throws Exception {
    Iterator<JsonNode> events = node.stream(body);
    assertThat(events.hasNext()).isTrue();
    return events;
  }

  /** One for each replica: whoever has nothing to do is asked first. */
  private static List<Iterator<JsonNode>> onEach(int tokens) throws Exception {
    List<Iterator<JsonNode>> streams = new ArrayList<>();
    for (int i = 0; i < GPUS; i++) {
      streams.add(begun(prompt(tokens)));
    }
    return streams;
  }

  private static List<JsonNode> rest(Iterator<JsonNode> events) {
    List<JsonNode> rest = new ArrayList<>();
    events.forEachRemaining(rest::add);
    return rest;
  }

  private static List<Integer> tokens(List<JsonNode> events) {
    return events.stream()
        .flatMap(event -> ids(event.at("/choices/0/token_ids")).stream())
        .toList();
  }

  private static boolean failed(List<JsonNode> events) {
    return events.getLast().has("error");
  }

  /** What a model has on each GPU. */
  private static List<Double> figures(String name, String model) throws Exception {
    Figures figures = Figures.of(served.a());
    return IntStream.range(0, GPUS)
        .mapToObj(gpu -> "device=\"gpu%d\",model_name=\"%s\"".formatted(gpu, model))
        .map(labels -> figures.sum("firstlight_device_" + name, labels))
        .toList();
  }

  private static void awaitAll() throws Exception {
    for (String model : List.of(SMOLLM2, NEIGHBOUR)) {
      Eventually.holds(
          LIMIT, model + " is up", () -> figures("up", model).equals(List.of(1.0, 1.0)));
    }
    Eventually.holds(LIMIT, "all replicas serve", () -> replicas() == GPUS * 2);
  }

  /** Those that have begun, less those that have ended. */
  private static long replicas() {
    String log = served.log();
    return log.lines().filter(line -> line.matches(".* serves .* on port .*")).count()
        - log.lines().filter(line -> line.contains("is lost: ")).count();
  }

  @Test
  void each_model_is_on_each_gpu() throws Exception {
    awaitAll();
    for (String model : List.of(SMOLLM2, NEIGHBOUR)) {
      for (int gpu = 0; gpu < GPUS; gpu++) {
        assertThat(served.log()).contains("%s is on GPU %d, ".formatted(model, gpu));
      }
    }
  }

  @Test
  void requests_that_come_together_are_dealt_out_and_answered_alike() throws Exception {
    awaitAll();
    assertThat(workOnEach(FEW)).hasSize(FEW);
  }

  /** What all replicas answer to the same prompt, after a look whether each GPU worked. */
  private static List<Integer> workOnEach(int tokens) throws Exception {
    List<Double> before = figures("sampled_total", SMOLLM2);
    Set<List<Integer>> answers = new HashSet<>();
    onEach(tokens).forEach(stream -> answers.add(tokens(rest(stream))));
    List<Double> after = figures("sampled_total", SMOLLM2);
    for (int gpu = 0; gpu < GPUS; gpu++) {
      assertThat(after.get(gpu) - before.get(gpu)).isGreaterThanOrEqualTo(tokens);
    }
    assertThat(answers).hasSize(1);
    return answers.iterator().next();
  }

  /** The second model is on the failing GPU, too, and is asked nothing. */
  @ParameterizedTest
  @CsvSource({LAUNCH_FAILED + ", 1", OUT_OF_MEMORY + ", 0"})
  void what_a_failing_gpu_had_goes_on_elsewhere_and_it_comes_back(int result, int gpu)
      throws Exception {
    awaitAll();
    int logged = served.log().length();
    List<Iterator<JsonNode>> streams = onEach(TOKENS);
    node.control().inject(new Fault(result, 1, gpu));
    if (result == OUT_OF_MEMORY) {
      awaitGraphs();
    }
    List<List<JsonNode>> ended = streams.stream().map(SeveralGpusIT::rest).toList();

    assertThat(ended).noneMatch(SeveralGpusIT::failed);
    assertThat(ended.stream().map(SeveralGpusIT::tokens).distinct())
        .singleElement()
        .satisfies(tokens -> assertThat(tokens).hasSize(TOKENS));
    awaitAll();
    assertThat(node.control().pending()).isFalse();
    assertThat(served.log().substring(logged))
        .contains("the device gpu%d for %s is lost".formatted(gpu, SMOLLM2))
        .contains("the device gpu%d for %s was opened again".formatted(gpu, SMOLLM2))
        .doesNotContain("the device gpu%d for".formatted(1 - gpu));
    workOnEach(FEW);
  }

  /** Prompts that are longer than any before them, on each GPU: their graphs are yet to be made. */
  private static void awaitGraphs() throws Exception {
    ObjectNode longer = completion(SMOLLM2, "cat dog ".repeat(20), 1);
    List<CompletableFuture<Answer>> answers =
        Stream.generate(() -> served.a().sendLater(COMPLETIONS, longer)).limit(GPUS).toList();
    for (CompletableFuture<Answer> answer : answers) {
      assertThat(answer.get().status()).isEqualTo(200);
    }
  }
}
