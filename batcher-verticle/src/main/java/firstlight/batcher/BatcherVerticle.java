package firstlight.batcher;

import firstlight.protocol.Addresses;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.DeviceClaimed;
import firstlight.protocol.FailureKind;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.RunStep;
import firstlight.protocol.Time;
import firstlight.protocol.wire.InferenceGrpcService;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.GrpcServerOptions;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A replica: claims a device, serves edges over gRPC, and tells everybody how busy it is.
 *
 * <p>It starts once a device with its model answers. When the device is lost all generations are
 * refused, the replica reports that it takes nothing, and asks for a device until there is one.
 */
public final class BatcherVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(BatcherVerticle.class);

  /** Silences of the device in a row that mean it is gone. */
  private static final int MISSED_MAX = 2;

  /**
   * What the verticle works with.
   *
   * @param model the name of the model it serves
   * @param tokenBytes the bytes of a token's text; none for control tokens
   */
  public record Parts(
      NodeId node,
      String model,
      IntFunction<byte[]> tokenBytes,
      Time time,
      IdSource ids,
      MeterRegistry meters) {}

  private final BatcherConfig config;
  private final Parts parts;
  private final ReplicaId replica;
  private final Counts counts = new Counts();
  private final BatcherMetrics metrics;
  private final EdgeStreams edges;
  private @Nullable ReplicaLoop loop;
  private @Nullable DeviceClaim claim;
  private @Nullable HttpServer server;
  private @Nullable DeviceCapacity capacity;
  private int missed;
  private boolean stopping;

  public BatcherVerticle(BatcherConfig config, Parts parts) {
    this.config = config;
    this.parts = parts;
    this.replica = new ReplicaId(parts.ids().next("replica_"));
    this.edges = new EdgeStreams(config);
    this.metrics =
        new BatcherMetrics(
            parts.meters(), Tags.of("model_name", parts.model(), "replica", replica.value()));
  }

  @Override
  public Future<?> start() {
    ReplicaLoop made = new ReplicaLoop(vertx, config, this::scheduler, new Listener());
    loop = made;
    metrics.count(counts);
    metrics.gauge("vllm:num_requests_running", () -> live(Scheduler::running));
    metrics.gauge("vllm:num_requests_waiting", () -> live(Scheduler::waiting));
    metrics.gauge("vllm:kv_cache_usage_perc", () -> live(Scheduler::kvUsage));
    metrics.gauge("firstlight:replica_waiting_tokens", () -> live(Scheduler::waitingTokens));
    metrics.gauge("firstlight:replica_tenants", () -> live(Scheduler::tenants));
    metrics.gauge("firstlight:replica_booked_returns", () -> live(Scheduler::booked));
    metrics.gauge("firstlight:replica_drain_tokens_per_second", () -> live(Scheduler::drainRate));
    DeviceClaim.Wish wish = new DeviceClaim.Wish(replica, parts.node(), parts.model());
    DeviceClaim claiming = new DeviceClaim(vertx, wish, config.claimAnswerMax(), parts.time());
    claim = claiming;
    return claiming
        .claim(config.claimMax())
        .compose(claimed -> listen(made).onSuccess(_ -> begin(claimed)))
        .onSuccess(_ -> startTimers(made, claiming))
        .onFailure(_ -> metrics.close());
  }

  private Scheduler scheduler(DeviceCapacity now) {
    return new Scheduler(
        new SchedulerParts(
            config.limits(),
            now,
            parts.tokenBytes(),
            parts.time(),
            counts,
            parts.ids().seed(),
            BlockHash::mixed));
  }

  private Number live(java.util.function.Function<Scheduler, Number> value) {
    return Optional.ofNullable(loop).flatMap(ReplicaLoop::scheduler).map(value).orElse(0);
  }

  private Future<HttpServer> listen(ReplicaLoop made) {
    GrpcServer grpc =
        GrpcServer.server(
            vertx, new GrpcServerOptions().setMaxMessageSize(config.messageBytesMax()));
    grpc.callHandler(InferenceGrpcService.Attach, request -> edges.attach(request, made));
    return vertx
        .createHttpServer(new HttpServerOptions().setHost(config.host()).setPort(config.port()))
        .requestHandler(grpc)
        .listen()
        .onSuccess(listening -> server = listening);
  }

  private void begin(DeviceClaimed claimed) {
    capacity = claimed.capacity();
    missed = 0;
    if (loop != null) {
      loop.begin(claimed);
    }
    edges.rules(new SubmissionRules(config, claimed.capacity()));
    LOG.info(
        "{} serves {} on port {} with {}: {} Blocks of {} tokens, {} tokens a Step",
        replica,
        parts.model(),
        server == null ? 0 : server.actualPort(),
        claimed.address(),
        claimed.capacity().blocks(),
        claimed.capacity().blockTokens(),
        Math.min(config.stepTokensMax(), claimed.capacity().stepTokensMax()));
    report();
  }

  private void startTimers(ReplicaLoop made, DeviceClaim claiming) {
    vertx.setPeriodic(
        config.reportEvery().toMillis(),
        _ -> {
          made.tick();
          report();
        });
    vertx.setPeriodic(config.claimEvery().toMillis(), _ -> renew(made, claiming));
  }

  private void renew(ReplicaLoop made, DeviceClaim claiming) {
    Optional<DeviceClaimed> held = made.claimed();
    if (held.isEmpty()) {
      return;
    }
    // Does not wait for the one before: where a node has died the later one fails first.
    claiming
        .renew(held.get().address())
        .onComplete(
            answer -> {
              if (made.claimed().equals(held)) {
                missed = answer.succeeded() ? 0 : missed + 1;
                judge(made, answer.cause());
              }
            });
  }

  /** A device that works for somebody else now is lost at once, a silent one after a while. */
  private void judge(ReplicaLoop made, @Nullable Throwable failure) {
    if (failure == null) {
      return;
    }
    boolean taken = MeshException.fromReply(failure).kind() == FailureKind.CONFLICT;
    if (taken || missed >= MISSED_MAX) {
      made.lose("it does not keep the claim: " + failure.getMessage());
    }
  }

  private void report() {
    DeviceCapacity now = capacity;
    HttpServer listening = server;
    if (now == null || listening == null || loop == null) {
      return;
    }
    Optional<Scheduler> scheduler = loop.scheduler();
    vertx
        .eventBus()
        .publish(
            Addresses.REPLICAS,
            new ReplicaReport(
                replica,
                parts.node(),
                config.announcedHost(),
                listening.actualPort(),
                now,
                scheduler.map(Scheduler::waiting).orElse(0),
                scheduler.map(Scheduler::running).orElse(0),
                scheduler.map(Scheduler::blocksFree).orElse(0),
                scheduler.map(Scheduler::outstandingTokens).orElse(0L),
                stopping || scheduler.isEmpty()));
  }

  /** Connects the loop with those who want to know. */
  private final class Listener implements ReplicaLoop.Listener {
    @Override
    public void outcomes(long step, List<Outcome> outcomes) {
      outcomes.forEach(metrics::outcome);
      edges.deliver(step, outcomes);
    }

    @Override
    public void planned(RunStep step) {
      metrics.planned(step);
    }

    @Override
    public void deviceLost() {
      edges.rules(null);
      report();
      reclaim();
    }
  }

  private void reclaim() {
    DeviceClaim claiming = claim;
    if (claiming != null && !stopping) {
      claiming
          .claim(config.claimMax())
          .onSuccess(
              claimed -> {
                if (!stopping) {
                  begin(claimed);
                }
              })
          .onFailure(
              failure -> {
                if (!stopping) {
                  LOG.warn("still without a device: {}", failure.getMessage());
                  reclaim();
                }
              });
    }
  }

  @Override
  public Future<?> stop() {
    stopping = true;
    edges.rules(null);
    report();
    if (claim != null) {
      claim.close();
    }
    if (loop != null) {
      loop.failAll(EdgeStreams.stopping());
    }
    return edges
        .close()
        .otherwiseEmpty()
        .compose(_ -> server == null ? Future.succeededFuture() : server.close())
        .onComplete(_ -> metrics.close());
  }
}
