package firstlight.batcher;

import firstlight.protocol.Addresses;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.MeshMessage;
import firstlight.protocol.NodeId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A batcher verticle with a fake gpu on a real event bus, and edges over real connections. */
final class TestReplica {
  private static final int WAIT_SECONDS = 10;
  static final NodeId NODE = new NodeId("node-1");

  final Vertx vertx = Vertx.vertx();
  final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final BlockingQueue<ReplicaReport> reports = new LinkedBlockingQueue<>();
  private String deployment = "";
  private int port;

  TestReplica() {
    MeshCodec.register(vertx.eventBus());
    vertx
        .eventBus()
        .<MeshMessage>consumer(
            Addresses.REPLICAS, message -> reports.add((ReplicaReport) message.body()));
  }

  FakeGpu start(GlassDevice device) throws Exception {
    return start(device, "");
  }

  /**
   * @param yaml the batcher's settings, one a line
   */
  FakeGpu start(GlassDevice device, String yaml) throws Exception {
    FakeGpu gpu = new FakeGpu(vertx, device, "gpu-1");
    gpu.serve(NODE);
    deploy(yaml);
    return gpu;
  }

  void deploy(String yaml) throws Exception {
    BatcherVerticle verticle =
        new BatcherVerticle(
            config(yaml),
            new BatcherVerticle.Parts(
                NODE, "glass", Specs::bytes, Time.system(), new IdSource(new Random(1)), meters));
    deployment =
        vertx
            .deployVerticle(verticle)
            .toCompletionStage()
            .toCompletableFuture()
            .get(WAIT_SECONDS, TimeUnit.SECONDS);
    port = report(report -> !report.draining()).port();
  }

  static BatcherConfig config(String yaml) {
    Settings settings = Settings.parse(yaml, _ -> null);
    BatcherConfig config = BatcherConfig.from(settings);
    settings.problems().throwIfAny();
    return config;
  }

  TestEdge edge() throws Exception {
    return new TestEdge(vertx, port);
  }

  int port() {
    return port;
  }

  /** Waits for a report like that; they come all the time, also when none is. */
  ReplicaReport report(Predicate<ReplicaReport> wanted) throws InterruptedException {
    Time clock = Time.system();
    long end = clock.nanos() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
    ReplicaReport report;
    do {
      report = reports.poll(end - clock.nanos(), TimeUnit.NANOSECONDS);
    } while (report != null && !wanted.test(report));
    if (report == null) {
      throw new AssertionError("no such report came");
    }
    return report;
  }

  double gauge(String name) {
    return meters.get(name).gauge().value();
  }

  double counter(String name, String tag, String value) {
    return meters.get(name).tag(tag, value).counter().count();
  }

  void undeploy() throws Exception {
    vertx
        .undeploy(deployment)
        .toCompletionStage()
        .toCompletableFuture()
        .get(WAIT_SECONDS, TimeUnit.SECONDS);
  }

  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(WAIT_SECONDS, TimeUnit.SECONDS);
  }
}
