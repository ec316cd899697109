package firstlight.app;

import firstlight.batcher.BatcherVerticle;
import firstlight.edge.EdgeModel;
import firstlight.edge.EdgeModels;
import firstlight.edge.EdgeVerticle;
import firstlight.feedback.FeedbackVerticle;
import firstlight.gpu.Devices;
import firstlight.gpu.GpuVerticle;
import firstlight.model.Model;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import firstlight.session.SessionVerticle;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The verticles of a node: made by plain constructors, deployed by role, undeployed in reverse. */
final class Deployment {
  private static final Logger LOG = LoggerFactory.getLogger(Deployment.class);
  private static final int UNDEPLOY_SECONDS = 2;

  private final NodeConfig config;
  private final Vertx vertx;
  private final List<Model> models;
  private final Devices devices;
  private final PrometheusMeterRegistry meters;
  private final Time time = Time.system();
  private final IdSource ids = new IdSource(new SecureRandom());
  private final Deque<String> deployed = new ArrayDeque<>();
  private final List<EdgeVerticle> edges = new ArrayList<>();

  Deployment(
      NodeConfig config,
      Vertx vertx,
      List<Model> models,
      Devices devices,
      PrometheusMeterRegistry meters) {
    this.config = config;
    this.vertx = vertx;
    this.models = models;
    this.devices = devices;
    this.meters = meters;
  }

  /** What needs no service: devices and the replicas in front of them. */
  void deployCompute() throws Exception {
    Map<Model, Iterator<Devices.Dealt>> dealt = deal();
    for (Map.Entry<Model, Iterator<Devices.Dealt>> each : dealt.entrySet()) {
      deploy(Role.GPU, () -> gpu(each.getKey(), each.getValue().next()));
    }
    for (Model model : models) {
      deploy(Role.BATCHER, () -> batcher(model));
    }
  }

  /** Before the first is opened, so that it leaves room for those to come. */
  private Map<Model, Iterator<Devices.Dealt>> deal() {
    Map<Model, Iterator<Devices.Dealt>> dealt = new LinkedHashMap<>();
    if (config.has(Role.GPU)) {
      for (Model model : models) {
        Stream<Devices.Dealt> all = Stream.generate(() -> devices.deal(model));
        dealt.put(model, all.limit(instances(Role.GPU)).toList().iterator());
      }
    }
    return dealt;
  }

  private int instances(Role role) {
    return config.instances(role, devices.count());
  }

  /** The rest, the edge last: once it listens, everything behind it is there. */
  void deployRest() throws Exception {
    deploy(Role.SESSION, SessionVerticle.instances(config.session(), time, meters));
    deploy(
        Role.FEEDBACK,
        () -> new FeedbackVerticle(config.feedback(), config.lake(), time, ids, meters));
    EdgeModels edgeModels = new EdgeModels(models.stream().map(this::edgeModel).toList());
    deploy(Role.EDGE, () -> edge(edgeModels));
  }

  private GpuVerticle gpu(Model model, Devices.Dealt dealt) {
    return new GpuVerticle(config.gpu(), config.name(), model.name(), dealt, meters);
  }

  private BatcherVerticle batcher(Model model) {
    return new BatcherVerticle(
        config.batcher(),
        new BatcherVerticle.Parts(
            config.name(), model.name(), model.tokenizer()::bytes, time, ids, meters));
  }

  private EdgeVerticle edge(EdgeModels edgeModels) {
    EdgeVerticle edge =
        new EdgeVerticle(config.edge(), config.name(), edgeModels, time, ids, meters);
    edges.add(edge);
    return edge;
  }

  private EdgeModel edgeModel(Model model) {
    EdgeModel whole =
        new EdgeModel(
            model.name(),
            model.tokenizer(),
            model.template(),
            model.hyperparameters().contextLength(),
            model.digest(),
            time.epochMillis() / 1_000);
    return config.models().stream()
        .filter(entry -> entry.name().equals(model.name()))
        .findFirst()
        .map(entry -> whole.within(entry.contextMax(), entry.outputMax()))
        .orElse(whole);
  }

  private void deploy(Role role, Supplier<? extends Deployable> verticles) throws Exception {
    if (!config.has(role)) {
      return;
    }
    DeploymentOptions options = new DeploymentOptions().setInstances(instances(role));
    deployed.push(Node.await(vertx.deployVerticle(verticles, options)));
  }

  int port() {
    return edges.isEmpty() ? 0 : edges.getFirst().port();
  }

  /** Lets requests end that are at work, and takes no new ones. */
  void drain(Duration limit) {
    if (limit.isZero() || edges.isEmpty()) {
      return;
    }
    LOG.info("draining: no new requests, those at work may take {} s", limit.toSeconds());
    try {
      Future.join(edges.stream().map(EdgeVerticle::drain).toList())
          .toCompletionStage()
          .toCompletableFuture()
          .get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      LOG.warn("requests are at work still, and end with an error");
    } catch (Exception e) {
      LOG.warn("the edge did not drain: {}", e.getMessage());
    }
  }

  /**
   * Each in turn, so that nobody loses what it still needs.
   *
   * @return whether all are gone; those that are not may still be on their way
   */
  boolean undeploy() {
    Future<Void> done = Future.succeededFuture();
    for (String id : deployed) {
      done = done.transform(_ -> vertx.undeploy(id));
    }
    try {
      done.toCompletionStage().toCompletableFuture().get(UNDEPLOY_SECONDS, TimeUnit.SECONDS);
      return true;
    } catch (TimeoutException e) {
      LOG.warn("not every verticle stopped in time");
    } catch (Exception e) {
      LOG.warn("a verticle did not stop cleanly: {}", e.getMessage());
    }
    return false;
  }
}
