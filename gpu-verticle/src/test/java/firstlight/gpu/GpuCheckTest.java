package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.gpu.cuda.KernelImages;
import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.model.TestModels;
import firstlight.protocol.Time;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The check of a GPU, on the simulated driver: that it ends, and that it would say so. */
class GpuCheckTest {
  private static final int CUDA_ERROR_LAUNCH_FAILED = 719;
  private static final KernelImages.Image IMAGE =
      new KernelImages.Image("sm_90a", SimulatedGpu.IMAGE, KernelImages.Origin.JAR);

  @TempDir Path folder;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private Path json;

  @BeforeEach
  void require() {
    SimulatedGpu.require();
    json = folder.resolve("check.json");
  }

  @AfterEach
  void reset() {
    SimulatedDriver.reset();
  }

  private int run(CheckOptions options, List<CheckStep> steps) throws IOException {
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    return new GpuCheck(options, out, Time.system()).run(IMAGE, steps);
  }

  private JsonNode written() throws IOException {
    return new ObjectMapper().readTree(json.toFile());
  }

  private static List<String> texts(JsonNode rows, String name) {
    return StreamSupport.stream(rows.spliterator(), false)
        .map(row -> row.get(name).asText())
        .toList();
  }

  private static CheckStep kernels(String name, CheckStep.Body body) {
    return new CheckStep(CheckStep.KERNELS, name, 1, body);
  }

  private static CheckStep right() {
    return kernels("right", bench -> bench.require("any", "holds", true));
  }

  @Test
  void all_kernels_are_right_and_every_section_is_there() throws IOException {
    CheckOptions options = CheckOptions.defaults(json);
    List<CheckStep> steps = CheckStep.all(options);

    assertThat(run(options, steps)).as(said.toString(StandardCharsets.UTF_8)).isZero();

    JsonNode all = written();
    assertThat(all.get("right").asBoolean()).isTrue();
    assertThat(all.get("simulated").asBoolean()).isTrue();
    assertThat(all.at("/versions/device").asText()).contains("SIMULATED");
    assertThat(all.get("steps")).hasSameSizeAs(steps);
    assertThat(texts(all.get("steps"), "status")).containsOnly("right");
    assertThat(texts(all.get("kernels"), "right")).containsOnly("true");
    assertThat(texts(all.get("kernels"), "kernel"))
        .contains("multiply8", "multiply32", "multiply64", "add_norm", "activate", "embed")
        .contains("widen", "narrow", "rotate_store", "attend_128", "attend_split_128", "sample")
        .contains("fill_random", "read_words", "forward");
    assertThat(texts(all.get("products"), "weights")).contains("bf16", "fp8", "q8_0", "q4_k");
    assertThat(texts(all.get("attention"), "what")).contains("decode", "prefill");
    assertThat(texts(all.get("model"), "what")).contains("decode", "prefill", "first token");
    assertThat(texts(all.get("copy"), "what")).contains("read");
    assertThat(texts(all.get("published"), "source")).contains("GPULlama3.java");
    assertThat(all.at("/model/1/limitTokensPerSecond").asDouble()).isPositive();
    assertThat(said.toString(StandardCharsets.UTF_8).lines().filter(line -> line.contains("GPU 0")))
        .allMatch(line -> line.contains("SIMULATED"));
  }

  @Test
  void a_number_that_is_wrong_turns_the_exit_status() throws IOException {
    CheckStep wrong =
        kernels(
            "wrong",
            bench -> {
              double[] actual = {1, 2, 3.001};
              bench.compare("any", "planted", 1e-4, actual, new double[] {1, 2, 3});
            });
    assertThat(run(CheckOptions.defaults(json), List.of(wrong, right()))).isEqualTo(1);
    assertThat(written().get("right").asBoolean()).isFalse();
    assertThat(texts(written().get("steps"), "status")).containsExactly("wrong", "right");
    assertThat(said.toString(StandardCharsets.UTF_8)).contains("WRONG any, planted");
  }

  @Test
  void a_number_that_was_never_written_is_wrong() throws IOException {
    CheckStep missing =
        kernels(
            "missing",
            bench ->
                bench.compare("any", "planted", 1, new double[] {Double.NaN}, new double[] {1}));
    assertThat(run(CheckOptions.defaults(json), List.of(missing))).isEqualTo(1);
    assertThat(written().at("/kernels/0/right").asBoolean()).isFalse();
  }

  @Test
  void a_kernel_that_fails_is_named_and_the_others_run() throws IOException {
    List<CheckStep> steps =
        List.of(kernels("rows", RowCheck::run), kernels("memory", MemoryCheck::run));
    SimulatedDriver.inject(CUDA_ERROR_LAUNCH_FAILED, 2);
    assertThat(run(CheckOptions.defaults(json), steps)).isEqualTo(1);
    assertThat(texts(written().get("steps"), "status")).containsExactly("failed", "right");
    assertThat(written().at("/steps/0/reason").asText()).contains("LAUNCH_FAILED");
  }

  @Test
  void what_no_longer_fits_is_named_and_kernels_nobody_looked_at_are_not_right()
      throws IOException {
    CheckOptions options =
        new CheckOptions(5, json, 0, false, Optional.empty(), Optional.empty(), 1);
    CheckStep slow = new CheckStep("model", "slow", 60, bench -> {});
    assertThat(run(options, List.of(right(), slow))).isZero();
    assertThat(texts(written().get("steps"), "status")).containsExactly("right", "skipped");
    CheckStep unseen = new CheckStep(CheckStep.KERNELS, "unseen", 60, bench -> {});
    assertThat(run(options, List.of(right(), unseen))).isEqualTo(1);
  }

  @Test
  void a_models_tokens_are_those_of_the_reference() throws IOException {
    Path reference =
        Path.of(System.getProperty("firstlight.shared", "../../shared"))
            .resolve("reference/smollm2_greedy_f32.json");
    Assumptions.assumeTrue(Files.exists(reference), () -> "skipped: there is no " + reference);
    CheckOptions options =
        new CheckOptions(
            200, json, 0, false, Optional.of(TestModels.smollm2()), Optional.of(reference), 1);
    CheckStep tokens =
        new CheckStep("tokens", "tokens", 1, bench -> TokenCheck.run(bench, options));
    assertThat(run(options, List.of(tokens))).as(said.toString(StandardCharsets.UTF_8)).isZero();
    assertThat(written().at("/tokens/0/positions").asInt()).isPositive();
  }

  @Test
  void options_are_read_and_mistakes_are_told() {
    CheckOptions options =
        CheckOptions.parse(
            new String[] {"--seconds", "60", "--json", "a.json", "--gpu", "1", "--small"});
    assertThat(options)
        .isEqualTo(
            new CheckOptions(
                60, Path.of("a.json"), 1, true, Optional.empty(), Optional.empty(), 10));
    for (String wrong : List.of("--what", "--seconds", "--seconds x", "--model a")) {
      assertThatThrownBy(() -> CheckOptions.parse(wrong.split(" ")))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
