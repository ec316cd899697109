package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import firstlight.gpu.cuda.CudaProbe;
import firstlight.gpu.cuda.SimulatedControl;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What can go wrong at the start is told in one clear line. */
class StartFailureIT {
  private static final Pattern SERVICE = Pattern.compile("redis-server|/postgres");

  @TempDir private Path folder;

  private String failing(String... arguments) throws Exception {
    return failing(FirstlightProcess.start(arguments));
  }

  private static String failing(FirstlightProcess started) throws Exception {
    try (FirstlightProcess process = started) {
      assertThat(process.exitCode()).as(process.output()).isEqualTo(1);
      assertThat(process.output()).doesNotContain("\tat ", "Exception");
      return process.output();
    }
  }

  private Path config(String yaml) throws Exception {
    return Files.writeString(folder.resolve("conf.yaml"), yaml);
  }

  @Test
  void a_taken_port() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = String.valueOf(taken.getLocalPort());
      assertThat(failing("up", "--port", port, "--data", folder.toString()))
          .contains("firstlight: ", port, "Choose another with --port");
    }
  }

  @Test
  void a_broken_model() throws Exception {
    Path model = Files.writeString(folder.resolve("broken.gguf"), "this is not a model at all");
    Path config = config("models: {m: {file: %s}}\nedge: {open: true}".formatted(model));
    assertThat(failing("up", "--config", config.toString()))
        .contains("firstlight: ", "broken.gguf", "not a GGUF file");
  }

  @Test
  void a_broken_model_while_services_are_starting_leaves_no_process_behind() throws Exception {
    Path model = Files.writeString(folder.resolve("broken.gguf"), "this is not a model at all");
    Path config =
        config(
            "node: {embedded: true, data: %s}\nmodels: {m: {file: %s}}\nedge: {open: true, port: 0}"
                .formatted(folder.resolve("data"), model));
    Set<Long> before = services();
    assertThat(failing("up", "--config", config.toString())).contains("not a GGUF file");
    Eventually.holds(
        Duration.ofSeconds(2), "no service lives on", () -> before.containsAll(services()));
  }

  private static Set<Long> services() {
    return ProcessHandle.allProcesses()
        .filter(process -> SERVICE.matcher(process.info().command().orElse("")).find())
        .map(ProcessHandle::pid)
        .collect(Collectors.toSet());
  }

  @Test
  void mistakes_in_the_configuration() throws Exception {
    Path config = config("models: {m: {file: x}}\nedge: {open: true, prot: 1}\nnode: {nmae: x}");
    assertThat(failing("up", "--config", config.toString()))
        .contains("edge.prot is not a setting; did you mean edge.port?")
        .contains("node.nmae is not a setting; did you mean node.name?");
  }

  @Test
  void a_configuration_that_is_not_there() throws Exception {
    assertThat(failing("up", "--config", folder.resolve("none.yaml").toString()))
        .contains("firstlight: there is no configuration");
  }

  @Test
  void a_device_that_is_not_there_before_anything_is_fetched_or_started() throws Exception {
    assumeThat(CudaProbe.probe()).isInstanceOf(CudaProbe.Absent.class);
    String reason = ((CudaProbe.Absent) CudaProbe.probe()).reason();
    Path home = folder.resolve("home");
    Set<Long> before = services();
    long begin = System.nanoTime();
    String said =
        failing(
            FirstlightProcess.start(
                Map.of("FIRSTLIGHT_HOME", home.toString()),
                "up",
                "--device",
                "cuda",
                "--data",
                folder.resolve("data").toString()));
    assertThat(System.nanoTime() - begin).isLessThan(Duration.ofSeconds(20).toNanos());
    assertThat(said.lines().filter(line -> line.startsWith("firstlight: ")))
        .containsExactly(
            "firstlight: the cuda device can not be used: "
                + reason
                + "; --device cpu does without");
    assertThat(home).doesNotExist();
    assertThat(before).containsAll(services());
  }

  @Test
  void a_gpu_with_too_little_memory_for_the_model() throws Exception {
    SimulatedNode.require();
    SimulatedControl control = SimulatedControl.in(folder);
    control.memory(64L << 20);
    assertThat(failing(SimulatedNode.launch(control, folder)).lines())
        .filteredOn(line -> line.startsWith("firstlight: "))
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("smollm2-135m", "GPU 0", "memory", "gpu.cuda.weights");
  }

  @Test
  void a_data_folder_that_is_a_file() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "x");
    assertThat(failing("up", "--port", "0", "--data", file.toString()))
        .contains("firstlight: ", file.toString());
  }
}
