package firstlight.edge;

import firstlight.protocol.Addresses;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshMessage;
import firstlight.protocol.NodeId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of the mesh on one event loop. Several instances share the port; each has its
 * own links to the replicas and its own limits.
 */
public final class EdgeVerticle extends VerticleBase {
  private static final int LOOK_MILLIS = 250;
  private static final int CHUNK_BYTES_MAX = 64 << 10;
  private static final int STOP_SECONDS_MAX = 1;
  private static final String WORKERS = "firstlight-prompts";

  private final EdgeConfig config;
  private final NodeId node;
  private final EdgeModels models;
  private final Time time;
  private final IdSource ids;
  private final PrometheusMeterRegistry meters;
  private final Function<Vertx, Events> eventsOf;
  private @Nullable Running running;
  private volatile int port;

  /** What it has while it runs. */
  private record Running(
      HttpServer server,
      ReplicaTurns turns,
      ReplicaLinks links,
      WorkerExecutor workers,
      Events events) {}

  /**
   * @param models what clients may name
   * @param meters also what {@code /metrics} shows
   */
  public EdgeVerticle(
      EdgeConfig config,
      NodeId node,
      EdgeModels models,
      Time time,
      IdSource ids,
      PrometheusMeterRegistry meters) {
    this(
        config,
        node,
        models,
        time,
        ids,
        meters,
        vertx ->
            config.events().bootstrap().isEmpty()
                ? new NoEvents()
                : new SpoolEvents(vertx, config.events(), time, ids, meters));
  }

  /**
   * @param eventsOf makes the way to the data lake, on the verticle's event loop
   */
  EdgeVerticle(
      EdgeConfig config,
      NodeId node,
      EdgeModels models,
      Time time,
      IdSource ids,
      PrometheusMeterRegistry meters,
      Function<Vertx, Events> eventsOf) {
    this.config = config;
    this.node = node;
    this.models = models;
    this.time = time;
    this.ids = ids;
    this.meters = meters;
    this.eventsOf = eventsOf;
  }

  @Override
  public Future<?> start() {
    Events events = eventsOf.apply(vertx);
    String name = ids.next(node.value() + ".");
    ReplicaLinks links =
        new ReplicaLinks(vertx, new Replicas(time, config.times().replicaExpiry()), name);
    WorkerExecutor workers =
        vertx.createSharedWorkerExecutor(WORKERS, Runtime.getRuntime().availableProcessors());
    EdgeMetrics metrics = new EdgeMetrics(meters, models);
    ReplicaTurns turns = turns(config, links, workers, metrics, events);
    metrics.gauges(EdgeTotals.of(vertx), links.replicas()::size);
    Rehearsal rehearsal = rehearsal(links, workers);
    vertx
        .eventBus()
        .<MeshMessage>consumer(
            Addresses.REPLICAS,
            message -> {
              heard(links, message.body());
              rehearsal.look(links::ready);
            });
    vertx.setPeriodic(LOOK_MILLIS, _ -> links.expire());
    Router router = router(config, turns, metrics, events);
    new HealthRoute(vertx, models, links, rehearsal, meters, turns::draining).mount(router);
    HttpServer server = server(router, metrics);
    running = new Running(server, turns, links, workers, events);
    return server
        .listen()
        .onSuccess(listening -> port = listening.actualPort())
        .recover(failure -> stop().transform(_ -> Future.failedFuture(failure)));
  }

  @Override
  public Future<?> stop() {
    Running parts = running;
    if (parts == null) {
      return Future.succeededFuture();
    }
    parts.turns().close();
    return parts
        .server()
        .shutdown(STOP_SECONDS_MAX, TimeUnit.SECONDS)
        .eventually(() -> parts.links().close())
        .eventually(() -> parts.events().close())
        .eventually(() -> parts.workers().close());
  }

  /**
   * Takes no new requests, and says so to load balancers; what is at work goes on. Completes when
   * all of that has ended.
   */
  public Future<Void> drain() {
    Running parts = running;
    if (parts == null) {
      return Future.succeededFuture();
    }
    Promise<Void> drained = Promise.promise();
    context.runOnContext(_ -> parts.turns().drain().onComplete(drained));
    return drained.future();
  }

  /** Where it listens, once deployed. */
  public int port() {
    return port;
  }

  private static void heard(ReplicaLinks links, MeshMessage message) {
    if (message instanceof ReplicaReport report) {
      links.heard(report);
    }
  }

  private ReplicaTurns turns(
      EdgeConfig config,
      ReplicaLinks links,
      WorkerExecutor workers,
      EdgeMetrics metrics,
      Events events) {
    return new ReplicaTurns(
        new ReplicaTurns.Tools(
            vertx, config, node, models, links, workers, metrics, events, time, ids));
  }

  /** Of what it does nothing is counted or published. */
  private Rehearsal rehearsal(ReplicaLinks links, WorkerExecutor workers) {
    String key = ids.next("key_");
    EdgeConfig own = config.forOnly(Rehearsal.tenant(key));
    EdgeMetrics unseen = new EdgeMetrics(new SimpleMeterRegistry(), models);
    Events nowhere = new NoEvents();
    Router router = router(own, turns(own, links, workers, unseen, nowhere), unseen, nowhere);
    return new Rehearsal(vertx, config.warmUp(), models, key, router);
  }

  private Router router(EdgeConfig config, ReplicaTurns turns, EdgeMetrics metrics, Events events) {
    Json json = new Json(config.limits());
    Bodies bodies = new Bodies(vertx, config, json);
    FailureEvents failures = new FailureEvents(events, metrics, config, node, time);
    Feedbacks feedbacks =
        new Feedbacks(
            events,
            FeedbackMemory.of(vertx),
            FeedbackKnown.by(vertx.eventBus()),
            ids,
            time,
            node,
            config);
    EdgeParts parts =
        new EdgeParts(
            vertx, config, node, models, turns, bodies, json, events, failures, feedbacks, time,
            ids);
    Router router = Router.router(vertx);
    new Gate(config, failures, ids).mount(router);
    List<Dialect> dialects =
        List.of(
            new ModelsRoute(models),
            new CompletionDialects(parts),
            new MessagesDialect(parts),
            new ResponsesDialect(parts),
            new ConversationsRoute(parts),
            new FeedbackRoute(parts));
    dialects.forEach(dialect -> dialect.mount(router));
    return router;
  }

  private HttpServer server(Router router, EdgeMetrics metrics) {
    IdleConnections idle = new IdleConnections(vertx, config.times(), metrics);
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(config.host())
            .setPort(config.port())
            .setIdleTimeout((int) config.times().idleTimeout().toMillis())
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            .setTcpNoDelay(true)
            .setTcpKeepAlive(true)
            .setMaxHeaderSize(config.limits().headerBytesMax())
            .setMaxChunkSize(CHUNK_BYTES_MAX);
    return vertx
        .createHttpServer(config.tls().configure(WebSocketLimits.of(config).configure(options)))
        .connectionHandler(idle::opened)
        .invalidRequestHandler(new UnreadableRequests(config, metrics)::answer)
        .requestHandler(
            request -> {
              if (idle.begun(request)) {
                router.handle(request);
              }
            });
  }
}
