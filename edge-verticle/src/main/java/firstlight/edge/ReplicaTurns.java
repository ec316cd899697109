package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Time;
import firstlight.protocol.Usage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Runs turns on the replicas of the mesh. */
final class ReplicaTurns implements Turns {
  private static final long RETRY_MILLIS = 1_000;

  private final Vertx vertx;
  private final EdgeConfig config;
  private final NodeId node;
  private final EdgeModels models;
  private final ReplicaLinks links;
  private final WorkerExecutor workers;
  private final EdgeMetrics metrics;
  private final Events events;
  private final Time time;
  private final IdSource ids;
  private final TextKeeper keeper;
  private final PromptBuilder builder;
  private final Load load;
  private final Moves moves;
  private final EdgeTotals totals;
  private final Set<Turn> running = new HashSet<>();

  /** Null: new requests are taken. */
  private @Nullable Promise<Void> drained;

  /** What it works with. */
  record Tools(
      Vertx vertx,
      EdgeConfig config,
      NodeId node,
      EdgeModels models,
      ReplicaLinks links,
      WorkerExecutor workers,
      EdgeMetrics metrics,
      Events events,
      Time time,
      IdSource ids) {}

  ReplicaTurns(Tools tools) {
    this.vertx = tools.vertx();
    this.config = tools.config();
    this.node = tools.node();
    this.models = tools.models();
    this.links = tools.links();
    this.workers = tools.workers();
    this.metrics = tools.metrics();
    this.events = tools.events();
    this.time = tools.time();
    this.ids = tools.ids();
    this.keeper = new TextKeeper(config.texts());
    this.builder = new PromptBuilder(config.limits());
    this.load = new Load(config.limits().requestsMax(), TenantPlaces.of(vertx));
    this.moves = new Moves(vertx, links, metrics, time, config);
    this.totals = EdgeTotals.of(vertx);
  }

  @Override
  public TurnHandle start(TurnRequest request, TurnListener listener) {
    TurnAccount account = new TurnAccount(request, metrics, time);
    Turn turn = new Turn(this, request, listener, account, deadline(request));
    vertx.runOnContext(_ -> begin(turn));
    return turn;
  }

  @Override
  public Future<PromptSize> measure(TurnRequest request) {
    try {
      EdgeModel model = models.find(request.model());
      int served = links.replicas().positionsMax(model.name());
      // To count needs no replica.
      LengthLimits lengths =
          LengthLimits.of(
              model, served == 0 ? model.contextMax() : served, config.tenant(request.tenant()));
      Instant now = Instant.ofEpochMilli(time.epochMillis());
      return workers.executeBlocking(
          () -> new PromptSize(builder.count(request, model, now), lengths.contextMax()), false);
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  /** Unix time, ms, by which its first token must be there; 0: the replica's own limit. */
  private long deadline(TurnRequest request) {
    long limit = request.urgency().firstTokenMillis();
    if (limit == 0) {
      limit = config.tenant(request.tenant()).firstTokenMax().toMillis();
    }
    return limit == 0 ? 0 : time.epochMillis() + limit;
  }

  private void begin(Turn turn) {
    if (turn.told()) {
      return;
    }
    TurnRequest request = turn.request();
    try {
      if (draining()) {
        throw stopping();
      }
      EdgeModel model = models.find(request.model());
      if (request.answers() > config.limits().answersMax()) {
        throw MeshException.invalid(
            "n times the number of prompts must be at most %d."
                .formatted(config.limits().answersMax()),
            "n");
      }
      load.take(config.tenant(request.tenant()));
      totals.add(EdgeTotals.Count.REQUESTS, 1);
      running.add(turn);
      prepare(turn, model);
    } catch (RuntimeException e) {
      turn.fail(e);
    }
  }

  private void prepare(Turn turn, EdgeModel model) {
    LengthLimits lengths = lengths(turn.request(), model);
    Instant now = Instant.ofEpochMilli(time.epochMillis());
    workers
        .executeBlocking(() -> builder.build(turn.request(), model, lengths, now), false)
        .onSuccess(
            prompts -> {
              if (!turn.told()) {
                submit(turn, model, prompts);
              }
            })
        .onFailure(turn::fail);
  }

  private LengthLimits lengths(TurnRequest request, EdgeModel model) {
    int served = links.replicas().positionsMax(model.name());
    if (served == 0) {
      throw noReplica(model);
    }
    return LengthLimits.of(model, served, config.tenant(request.tenant()));
  }

  private static void submit(Turn turn, EdgeModel model, PromptBuilder.Prompts prompts) {
    try {
      turn.submit(model, prompts);
    } catch (RuntimeException e) {
      turn.fail(e);
    }
  }

  ReplicaReport place(EdgeModel model, int positions) {
    return links
        .place(model.name(), new Placement.Need(positions, null), _ -> true)
        .orElseThrow(() -> noReplica(model));
  }

  /** A generation goes to a replica. */
  void sent(ReplicaId replica, GenerationSpec spec) {
    totals.add(EdgeTotals.Count.GENERATIONS, 1);
    moved(replica, spec);
  }

  /** The rest of one goes to a replica. */
  void moved(ReplicaId replica, GenerationSpec spec) {
    links.replicas().sent(replica, spec.prompt().length + (long) spec.outputMax());
    metrics.placed(replica);
  }

  /** A generation runs no more. */
  void closed() {
    totals.add(EdgeTotals.Count.GENERATIONS, -1);
  }

  /** The turn is over and its cost is known. */
  void settled(Turn turn, Usage usage) {
    if (running.remove(turn)) {
      load.giveBack(turn.request().tenant());
      totals.add(EdgeTotals.Count.REQUESTS, -1);
    }
    endDrain();
    turn.account().count(usage);
    String model = turn.request().model();
    events.publish(
        new TurnFacts(
            turn.request(),
            turn.account(),
            usage,
            node,
            models.has(model) ? models.find(model) : null,
            time.epochMillis(),
            keeper));
  }

  /** Takes no new requests. Completes when none is at work any more. */
  Future<Void> drain() {
    if (drained == null) {
      drained = Promise.promise();
      endDrain();
    }
    return drained.future();
  }

  /** Whether no new requests are taken. */
  boolean draining() {
    return drained != null;
  }

  private void endDrain() {
    if (drained != null && running.isEmpty()) {
      drained.tryComplete();
    }
  }

  /** Fails whatever still runs: the edge stops. */
  void close() {
    List.copyOf(running).forEach(turn -> turn.fail(stopping()));
  }

  private static MeshException stopping() {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        Errors.SHUTTING_DOWN,
        "The server is shutting down. Try again.",
        null,
        RETRY_MILLIS);
  }

  Vertx vertx() {
    return vertx;
  }

  EdgeConfig config() {
    return config;
  }

  ReplicaLinks links() {
    return links;
  }

  Moves moves() {
    return moves;
  }

  EdgeMetrics metrics() {
    return metrics;
  }

  Time time() {
    return time;
  }

  IdSource ids() {
    return ids;
  }

  private static MeshException noReplica(EdgeModel model) {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "no_replica",
        "No replica of the model %s can take work right now. Try again.".formatted(model.name()),
        "model",
        RETRY_MILLIS);
  }
}
