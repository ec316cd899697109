package firstlight.app;

import firstlight.batcher.BatcherConfig;
import firstlight.batcher.BatcherVerticle;
import firstlight.edge.EdgeConfig;
import firstlight.edge.EdgeVerticle;
import firstlight.gpu.Devices;
import firstlight.gpu.GpuConfig;
import firstlight.gpu.GpuVerticle;
import firstlight.model.Model;
import firstlight.model.TestModels;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.NodeId;
import firstlight.protocol.Numerics;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/**
 * The fast path in a JVM of its own: an edge, and a replica around a paced glass device. {@code
 * FILE STEPMILLIS}, where the file has the sections {@code edge} and {@code batcher}.
 */
final class GlassNodeMain {
  static final String MODEL = "glass";
  private static final int BLOCKS = 8_192;
  private static final int BLOCK_TOKENS = 16;
  private static final int STEP_TOKENS = 1_024;
  private static final int CONTEXT = 4_096;

  private GlassNodeMain() {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.begin();
    Settings settings = Settings.parse(Files.readString(Path.of(arguments[0])), _ -> null);
    long stepNanos = Long.parseLong(arguments[1]) * 1_000_000;
    EdgeConfig edge = EdgeConfig.read(settings.section("edge"));
    BatcherConfig batcher = BatcherConfig.from(settings.section("batcher"));
    GpuConfig gpu = GpuConfig.read(settings.section("gpu"));
    settings.problems().throwIfAny();

    Model model = TestModels.smollm2Model();
    DeviceCapacity capacity =
        new DeviceCapacity(
            MODEL,
            BLOCKS,
            BLOCK_TOKENS,
            STEP_TOKENS,
            CONTEXT,
            model.tokenizer().vocabularySize(),
            new Numerics("glass", "hash", 0, "0".repeat(64)));
    NodeId node = new NodeId("edge");
    IdSource ids = new IdSource(new SecureRandom());
    var meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(2));
    MeshCodec.register(vertx.eventBus());
    Node.await(
        vertx.deployVerticle(
            new GpuVerticle(
                gpu,
                node,
                MODEL,
                new Devices.Dealt("glass", () -> new PacedDevice(capacity, stepNanos)),
                meters)));
    Node.await(
        vertx.deployVerticle(
            new BatcherVerticle(
                batcher,
                new BatcherVerticle.Parts(
                    node, MODEL, model.tokenizer()::bytes, Time.system(), ids, meters))));
    Node.await(
        vertx.deployVerticle(
            new EdgeVerticle(
                edge, node, ScriptReplica.edgeModels(model), Time.system(), ids, meters)));
    Readiness.await(edge.localAddress(edge.port()));
    ChildJvm.serve(vertx);
  }
}
