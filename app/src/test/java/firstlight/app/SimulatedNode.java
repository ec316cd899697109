package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import firstlight.gpu.cuda.SimulatedControl;
import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.model.TestModels;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A whole node whose GPUs are simulated, and what makes them fail. */
final class SimulatedNode implements AutoCloseable {
  /** The second model is on the same GPUs as the first. */
  static final String NEIGHBOUR = "neighbour";

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String CONFIGURATION =
      """
      node:
        embedded: true
        data: %s
      gpu:
        warmUp: 0s
        blockTokens: 16
        stepTokensMax: 128
        contextMax: 512
        stepTimeLimit: 300s
        cuda:
          kvMemory: 32MiB
      batcher:
        # A simulated GPU is a hundred times slower than the real one.
        firstTokenMax: 100s
        stepMax: 300s
      models:
        smollm2-135m:
          default: true
        neighbour:
          file: %s
      edge:
        host: 127.0.0.1
        port: 0
        open: false
        limits:
          movesMax: %d
        times:
          replicaExpiry: 10s
        tenants:
          a:
            key: test-key-a
      """;

  private final SimulatedControl control;
  private final FirstlightProcess process;
  private final Served served;

  private SimulatedNode(SimulatedControl control, FirstlightProcess process) throws Exception {
    this.control = control;
    this.process = process;
    this.served = new Served(process);
  }

  /** Skips the test that asks where the driver can not be built. */
  static void require() {
    SimulatedDriver.unavailable()
        .ifPresent(reason -> Assumptions.abort("no simulated GPU: " + reason));
  }

  /** Starts it with {@code --device cuda}; it may fail to. */
  static FirstlightProcess launch(SimulatedControl control, Path data) throws Exception {
    return launch(control, data, 0);
  }

  private static FirstlightProcess launch(SimulatedControl control, Path data, int movesMax)
      throws Exception {
    Path model = TestModels.smollm2().toAbsolutePath();
    Path file = data.resolve("simulated.yaml");
    Files.writeString(file, CONFIGURATION.formatted(data.toAbsolutePath(), model, movesMax));
    return FirstlightProcess.start(
        control.environment(), "up", "--device", "cuda", "--config", file.toAbsolutePath() + "");
  }

  /**
   * @param movesMax how often a generation goes on elsewhere when its GPU fails
   */
  static SimulatedNode start(int gpus, int movesMax) throws Exception {
    Path data = FirstlightProcess.freshFolder("simulated");
    SimulatedControl control = SimulatedControl.in(data);
    control.devices(gpus);
    return new SimulatedNode(control, launch(control, data, movesMax));
  }

  Served served() {
    return served;
  }

  SimulatedControl control() {
    return control;
  }

  ProcessHandle handle() {
    return process.handle();
  }

  /** What a model answers as soon as it has a device again. */
  JsonNode answerSoon(ObjectNode body) throws Exception {
    AtomicReference<Answer> answer = new AtomicReference<>();
    Eventually.holds(
        LIMIT,
        "it is served again",
        () -> {
          answer.set(served.a().send(Served.COMPLETIONS, body));
          return answer.get().status() != 503;
        });
    return Served.good(answer.get());
  }

  /** The events of a stream that has begun. */
  Iterator<JsonNode> stream(ObjectNode body) throws Exception {
    HttpResponse<Stream<String>> response =
        served
            .a()
            .http()
            .send(
                served.post(Served.COMPLETIONS, Client.JSON.writeValueAsBytes(body)).build(),
                BodyHandlers.ofLines());
    assertThat(response.statusCode()).isEqualTo(200);
    return response
        .body()
        .filter(line -> line.startsWith("data: {"))
        .map(line -> (JsonNode) object(line.substring("data: ".length())))
        .iterator();
  }

  @Override
  public void close() {
    served.close();
    assertThat(process.handle().isAlive()).isFalse();
  }
}
