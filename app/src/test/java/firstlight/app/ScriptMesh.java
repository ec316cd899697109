package firstlight.app;

import static firstlight.app.ScriptReplica.MODEL;

import firstlight.batcher.BatcherVerticle;
import firstlight.edge.EdgeConfig;
import firstlight.edge.EdgeModels;
import firstlight.edge.EdgeVerticle;
import firstlight.gpu.Devices;
import firstlight.gpu.GpuVerticle;
import firstlight.model.Model;
import firstlight.protocol.Addresses;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.MeshMessage;
import firstlight.protocol.NodeId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import firstlight.protocol.WireCodec;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** The mesh under a script, in this JVM: a real edge, and real replicas around glass devices. */
final class ScriptMesh implements AutoCloseable {
  private static final int WAIT_SECONDS = 20;
  private static final Duration READY = Duration.ofSeconds(10);

  private static final String EDGE =
      """
      port: 0
      warmUp: 0ms
      kafka: {bootstrap: "", closeLimit: 1ms}
      tenants:
        a: {key: test-key-a}
        b: {key: test-key-b}
      """;

  private final ScriptMode mode;
  private final Model model;
  private final Vertx vertx =
      Vertx.vertx(new VertxOptions().setEventLoopPoolSize(4).setWorkerPoolSize(4));
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final IdSource ids = new IdSource(new Random(1));
  private final Map<String, ReplicaReport> reports = new ConcurrentHashMap<>();
  private final Map<String, Running> replicas = new LinkedHashMap<>();
  private final List<FaultyDevice> devices = new ArrayList<>();
  private final EdgeVerticle edge;

  /** A replica's parts; its device changes when it gets another one. */
  private static final class Running {
    private final ScriptReplica replica;
    private String gpu = "";
    private String batcher = "";
    private FaultyDevice device;

    Running(ScriptReplica replica, FaultyDevice device) {
      this.replica = replica;
      this.device = device;
    }
  }

  /** Starts with an edge and no replica. */
  ScriptMesh(ScriptMode mode, Model model, EdgeModels edgeModels) {
    this.mode = mode;
    this.model = model;
    if (mode.wire()) {
      WireCodec.register(vertx.eventBus());
    } else {
      MeshCodec.register(vertx.eventBus());
    }
    vertx.eventBus().<MeshMessage>consumer(Addresses.REPLICAS, message -> heard(message.body()));
    Settings settings = ScriptReplica.settings(EDGE);
    EdgeConfig config = EdgeConfig.read(settings);
    settings.problems().throwIfAny();
    edge = new EdgeVerticle(config, new NodeId("edge"), edgeModels, Time.system(), ids, meters);
    deploy(edge);
  }

  private void heard(MeshMessage message) {
    if (message instanceof ReplicaReport report) {
      reports.put(report.node().value(), report);
    }
  }

  ScriptMode mode() {
    return mode;
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + edge.port());
  }

  /** Starts a replica with a device of its own, and waits until it takes work. */
  void start(ScriptReplica replica) throws Exception {
    Running running = new Running(replica, device(replica));
    if (replicas.putIfAbsent(replica.name(), running) != null) {
      throw new IllegalArgumentException("there is a replica " + replica.name() + " already");
    }
    running.gpu = deploy(gpu(running));
    running.batcher =
        deploy(
            new BatcherVerticle(
                replica.batcher(mode),
                new BatcherVerticle.Parts(
                    new NodeId(replica.name()),
                    MODEL,
                    model.tokenizer()::bytes,
                    Time.system(),
                    new IdSource(new Random(replica.name().hashCode())),
                    meters)));
    awaitServing(replica.name());
  }

  /** Gives a replica that has lost its device another one. */
  void replaceDevice(String name) throws Exception {
    Eventually.holds(READY, name + " knows that its device is lost", () -> lost(name));
    Running running = running(name);
    running.device = device(running.replica);
    vertx.undeploy(running.gpu);
    running.gpu = deploy(gpu(running));
    awaitServing(name);
  }

  private void awaitServing(String name) throws Exception {
    Eventually.holds(
        READY, name + " serves", () -> report(name).filter(now -> !now.draining()).isPresent());
  }

  private FaultyDevice device(ScriptReplica replica) {
    FaultyDevice device =
        new FaultyDevice(replica.capacity(mode, model.tokenizer().vocabularySize()));
    devices.add(device);
    return device;
  }

  private GpuVerticle gpu(Running running) {
    FaultyDevice device = running.device;
    AtomicBoolean opened = new AtomicBoolean();
    return new GpuVerticle(
        running.replica.gpu(),
        new NodeId(running.replica.name()),
        MODEL,
        new Devices.Dealt(
            "faulty",
            () -> {
              // A device that dies in a script stays dead.
              if (opened.getAndSet(true)) {
                throw new IllegalStateException("the device is gone");
              }
              return device;
            }),
        meters);
  }

  /** Stops a replica as an operator does, in the order of a deployment. */
  void stop(String name) {
    Running running = running(name);
    replicas.remove(name);
    await(vertx.undeploy(running.batcher));
    running.device.resume();
    await(vertx.undeploy(running.gpu));
  }

  FaultyDevice device(String replica) {
    return running(replica).device;
  }

  boolean hasReplica(String name) {
    return replicas.containsKey(name);
  }

  private Running running(String name) {
    Running running = replicas.get(name);
    if (running == null) {
      throw new IllegalArgumentException("there is no replica " + name);
    }
    return running;
  }

  /** What the replica last said of itself. */
  Optional<ReplicaReport> report(String replica) {
    return Optional.ofNullable(reports.get(replica));
  }

  /** Whether the replica has said that it takes no work. */
  boolean lost(String replica) {
    return report(replica).filter(ReplicaReport::draining).isPresent();
  }

  private String deploy(Deployable verticle) {
    return await(vertx.deployVerticle(verticle));
  }

  private static <T> T await(Future<T> future) {
    return future
        .toCompletionStage()
        .toCompletableFuture()
        .orTimeout(WAIT_SECONDS, TimeUnit.SECONDS)
        .join();
  }

  /** Stops everything, then asks the devices how they were treated. */
  @Override
  public void close() {
    devices.forEach(FaultyDevice::resume);
    try {
      for (String name : List.copyOf(replicas.keySet())) {
        stop(name);
      }
    } finally {
      await(vertx.close());
    }
    devices.forEach(FaultyDevice::verify);
  }
}
