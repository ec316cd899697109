package firstlight.bench;

import firstlight.edge.EdgeConfig;
import firstlight.edge.EdgeModels;
import firstlight.edge.EdgeVerticle;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.NodeId;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.Counter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * An edge without models in a JVM of its own, for what needs none. It prints its port; for each
 * number that it reads it prints, once so many Events are on Kafka, the microseconds of CPU it has
 * used so far.
 */
final class EdgeChild {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private EdgeChild() {}

  /** Argument: settings as YAML. Ends with its input. */
  public static void main(String[] arguments) throws Exception {
    Settings settings = Settings.parse(arguments[0], System::getenv);
    EdgeConfig config = EdgeConfig.read(settings.section("edge"));
    settings.problems().throwIfAny();
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    EdgeVerticle edge =
        new EdgeVerticle(
            config,
            new NodeId("bench"),
            new EdgeModels(List.of()),
            Time.system(),
            new IdSource(new SecureRandom()),
            meters);
    Vertx vertx = Vertx.vertx();
    MeshCodec.register(vertx.eventBus());
    vertx.deployVerticle(edge).toCompletionStage().toCompletableFuture().get();
    System.out.println(edge.port());
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      long count = Long.parseLong(line);
      while (sent(meters) < count) {
        LockSupport.parkNanos(LOOK_NANOS);
      }
      System.out.println(cpuMicros());
    }
    System.exit(0);
  }

  private static double sent(PrometheusMeterRegistry meters) {
    return meters.find("firstlight.events.sent").counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  private static long cpuMicros() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() / 1_000;
  }
}
