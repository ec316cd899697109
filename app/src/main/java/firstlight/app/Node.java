package firstlight.app;

import com.hazelcast.config.Config;
import com.hazelcast.config.FileSystemXmlConfig;
import firstlight.app.Launch.Configured;
import firstlight.gpu.Devices;
import firstlight.gpu.NoSuchDevice;
import firstlight.model.Model;
import firstlight.model.ModelStore;
import firstlight.protocol.MeshCodec;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A running node: its models, its Vert.x, its verticles, and the embedded services if it brings
 * them. What does not depend on each other starts side by side.
 */
final class Node {
  private static final int VERTX_SECONDS = 60;
  private static final int CLOSE_SECONDS = 1;

  private final Configured configured;
  private final PrintWriter out;
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final List<Model> models = new ArrayList<>();
  private @Nullable Vertx vertx;
  private @Nullable Deployment deployment;

  Node(Configured configured, PrintWriter out) {
    this.configured = configured;
    this.out = out;
  }

  /** Returns when the node serves. */
  void start() throws Exception {
    Devices devices = devices();
    configured.config().requirePorts(devices.count());
    @Nullable EmbeddedServices embedded = configured.embedded();
    CompletableFuture<Void> services =
        embedded == null ? CompletableFuture.completedFuture(null) : embedded.start();
    CompletableFuture<Vertx> mesh = vertx();
    openModels();
    Vertx running = await(mesh);
    vertx = running;
    MeshCodec.register(running.eventBus());
    Deployment started = new Deployment(configured.config(), running, models, devices, meters);
    deployment = started;
    started.deployCompute();
    await(services);
    if (embedded != null) {
      embedded.announce();
    }
    giveBackMemory();
    started.deployRest();
    awaitReplicas();
  }

  /** Before anything else starts: nobody waits to hear that there is no GPU. */
  private Devices devices() {
    NodeConfig config = configured.config();
    try {
      return config.has(Role.GPU) ? Devices.of(config.gpu()) : Devices.none(config.gpu());
    } catch (NoSuchDevice e) {
      throw new StartFailure(e.getMessage() + "; --device cpu does without", e);
    }
  }

  /**
   * Packing weights and warming a device up leave garbage of many times the size of what stays.
   * Only a collection that is asked for gives its memory back to the system at once; it takes a
   * tenth of a second, which nobody waits for yet.
   */
  private static void giveBackMemory() {
    System.gc();
  }

  /** A node with replicas of its own serves once its edge knows them. */
  private void awaitReplicas() throws Exception {
    NodeConfig config = configured.config();
    if (config.has(Role.EDGE) && config.has(Role.BATCHER)) {
      Readiness.await(config.edge().localAddress(port()));
    }
  }

  private void openModels() throws IOException {
    if (!needsModels()) {
      return;
    }
    ModelStore store = new ModelStore(ModelFiles.folder());
    for (ModelEntry entry : configured.config().models()) {
      models.add(ModelFiles.open(store, entry, new Progress(out)));
    }
  }

  private boolean needsModels() {
    NodeConfig config = configured.config();
    return config.has(Role.EDGE) || config.has(Role.BATCHER) || config.has(Role.GPU);
  }

  private CompletableFuture<Vertx> vertx() {
    NodeConfig.Cluster cluster = configured.config().cluster();
    // Vert.x 5.0.7 takes a request off this gauge twice when its client resets the connection, so
    // it goes below zero. The edge's own gauge of requests at work is right.
    meters
        .config()
        .meterFilter(MeterFilter.denyNameStartsWith("vertx.http.server.active.requests"));
    VertxBuilder builder =
        Vertx.builder()
            .with(
                new VertxOptions()
                    .setMetricsOptions(new MicrometerMetricsOptions().setEnabled(true))
                    .setEventBusOptions(new EventBusOptions().setHost(cluster.host())))
            .withMetrics(new MicrometerMetricsFactory(meters));
    if (!cluster.enabled()) {
      return CompletableFuture.completedFuture(builder.build());
    }
    return builder
        .withClusterManager(new HazelcastClusterManager(hazelcast(cluster)))
        .buildClustered()
        .toCompletionStage()
        .toCompletableFuture();
  }

  private static Config hazelcast(NodeConfig.Cluster cluster) {
    Path file =
        cluster.file().isAbsolute()
            ? cluster.file()
            : ConfigurationFile.home().resolve(cluster.file());
    if (!Files.isRegularFile(file)) {
      throw new StartFailure(
          "there is no cluster configuration %s. Set cluster.file.".formatted(file));
    }
    try {
      return new FileSystemXmlConfig(file.toFile());
    } catch (IOException | RuntimeException e) {
      throw new StartFailure("%s can not be read: %s".formatted(file, e.getMessage()), e);
    }
  }

  static <T> T await(CompletableFuture<T> future) throws Exception {
    try {
      return future.get(VERTX_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new StartFailure("a part did not start within %d s".formatted(VERTX_SECONDS), e);
    }
  }

  static <T> T await(Future<T> future) throws Exception {
    return await(future.toCompletionStage().toCompletableFuture());
  }

  /** The port of the HTTP interface; 0 on a node without an edge. */
  int port() {
    return deployment == null ? 0 : deployment.port();
  }

  /** How long requests may go on once the node is told to stop. */
  Duration drainLimit() {
    return configured.config().drain();
  }

  /**
   * Stops in the opposite order of the start, after a drain; what does not stop in time is left to
   * the end.
   */
  void stop() {
    if (deployment != null) {
      deployment.drain(drainLimit());
    }
    try {
      // Vert.x would stop those that are still stopping a second time, which they cannot do.
      if (vertx != null && (deployment == null || deployment.undeploy())) {
        vertx
            .close()
            .toCompletionStage()
            .toCompletableFuture()
            .orTimeout(CLOSE_SECONDS, TimeUnit.SECONDS)
            .join();
      }
    } catch (CompletionException e) {
      out.println("firstlight: not everything stopped in time");
    } finally {
      if (configured.embedded() != null) {
        configured.embedded().stop();
      }
      models.forEach(Model::close);
    }
  }
}
