package firstlight.session;

import firstlight.protocol.Addresses;
import firstlight.protocol.AppendItems;
import firstlight.protocol.ChangeConversation;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.CreateConversation;
import firstlight.protocol.DeleteConversation;
import firstlight.protocol.DeleteTurn;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FindConversation;
import firstlight.protocol.FindHistory;
import firstlight.protocol.FromSession;
import firstlight.protocol.History;
import firstlight.protocol.MeshException;
import firstlight.protocol.NoteFeedback;
import firstlight.protocol.RemoveItem;
import firstlight.protocol.StoreTurn;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Time;
import firstlight.protocol.ToConversation;
import firstlight.protocol.ToSession;
import firstlight.protocol.TurnDeleted;
import firstlight.protocol.TurnStored;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers {@link ToSession} at {@link Addresses#SESSION}. Any number of instances on any number of
 * nodes do the same work; those of one node, made by one {@link #instances}, share its memory and
 * the look-ups under way.
 *
 * <p>A deletion is announced to all of them. One that misses the announcement may answer with the
 * turn until its copy has outlived {@code session.cache.ttl}.
 *
 * <p>It starts without PostgreSQL and Redis, too: requests are then answered with {@link
 * FailureKind#UNAVAILABLE} or passed by the cache until they are there.
 */
public final class SessionVerticle extends VerticleBase {
  /** Announces deletions to every instance. */
  private static final String FORGOTTEN = "firstlight.session.forgotten";

  private static final Logger LOG = LoggerFactory.getLogger(SessionVerticle.class);
  private static final Duration QUIET = Duration.ofSeconds(10);

  private final SessionConfig config;
  private final Time time;
  private final Node node;
  private final SessionMeters meters;
  private final List<Histories.Tier> tiers = new ArrayList<>();
  private final List<MessageConsumer<?>> consumers = new ArrayList<>();
  private Future<Void> migration = Future.succeededFuture();
  private boolean stopping;

  /** What one instance answers from. */
  private record Stores(
      Histories histories, Conversations conversations, FeedbackIds feedbackIds) {}

  /** What the instances of one node share. */
  private record Node(
      Schema schema,
      LocalTurnStore local,
      UnknownTurns unknown,
      SingleFlight<TurnKey, History> flights,
      Outage redis,
      Outage postgres) {
    static Node of(SessionConfig config, Time time) {
      return new Node(
          new Schema(config.postgres()),
          new LocalTurnStore(config.cache(), time),
          new UnknownTurns(config.cache(), time),
          new SingleFlight<>(),
          new Outage(time, config.attemptPause(), QUIET),
          new Outage(time, config.attemptPause(), QUIET));
    }
  }

  /** The only instance of its node. */
  public SessionVerticle(SessionConfig config, Time time, MeterRegistry meters) {
    this(config, time, meters, Node.of(config, time));
  }

  private SessionVerticle(SessionConfig config, Time time, MeterRegistry meters, Node node) {
    this.config = config;
    this.time = time;
    this.node = node;
    this.meters = new SessionMeters(meters, time);
  }

  /** Makes the instances of one node, to be deployed in any number. */
  public static Supplier<SessionVerticle> instances(
      SessionConfig config, Time time, MeterRegistry meters) {
    Node node = Node.of(config, time);
    return () -> new SessionVerticle(config, time, meters, node);
  }

  @Override
  public Future<?> start() {
    Stores stores = stores();
    return prepare()
        .compose(
            _ -> {
              listen(stores);
              return Future.all(consumers.stream().map(MessageConsumer::completion).toList());
            });
  }

  @Override
  public Future<?> stop() {
    stopping = true;
    return Future.join(consumers.stream().map(MessageConsumer::unregister).toList())
        .transform(_ -> migration)
        .transform(_ -> Future.join(tiers.stream().map(tier -> tier.store().close()).toList()))
        // A look-up of this instance may never end now, so no other instance waits for it.
        .onComplete(_ -> node.flights().detach());
  }

  private Stores stores() {
    PostgresRequests requests =
        new PostgresRequests(
            vertx,
            new PostgresConnections(vertx, config.postgres(), time),
            node.postgres(),
            meters);
    Allowance limits = new Allowance(config.limits().turns(), config.limits().characters());
    Histories histories = histories(requests, limits);
    return new Stores(
        histories,
        new Conversations(
            new PostgresConversationStore(requests, limits), histories, this::announce),
        new FeedbackIds(requests, time));
  }

  private Histories histories(PostgresRequests requests, Allowance limits) {
    List<Histories.Tier> caches = new ArrayList<>();
    if (config.cache().enabled()) {
      caches.add(new Histories.Tier("local", node.local()));
      meters.size(node.local());
      meters.size(node.unknown());
    }
    if (config.redis().enabled()) {
      RedisTurnStore redis = new RedisTurnStore(vertx, config.redis());
      caches.add(
          new Histories.Tier(
              "redis",
              new SparableTurnStore(
                  "redis", redis, config.redis().timeout(), node.redis(), meters)));
    }
    Histories.Tier postgres = new Histories.Tier("postgres", new PostgresTurnStore(requests));
    tiers.addAll(caches);
    tiers.add(postgres);
    return new Histories(caches, postgres, node.unknown(), node.flights(), limits, meters);
  }

  private void listen(Stores stores) {
    consumers.add(
        vertx.eventBus().<ToSession>consumer(Addresses.SESSION, ask -> answer(stores, ask)));
    consumers.add(
        vertx
            .eventBus()
            .<DeleteTurn>consumer(FORGOTTEN, news -> forgotten(stores.histories(), news.body())));
  }

  private void announce(TurnKey forgotten) {
    vertx.eventBus().publish(FORGOTTEN, new DeleteTurn(forgotten.tenant(), forgotten.response()));
  }

  private void forgotten(Histories histories, DeleteTurn news) {
    node.local().forget(new TurnKey(news.tenant(), news.response()));
    histories.detachLookups();
  }

  /** Only what an operator must put right keeps the verticle from starting. */
  private Future<Void> prepare() {
    return node.schema()
        .migrate(vertx)
        .recover(
            failure -> {
              if (!(failure instanceof Schema.DatabaseAway)) {
                return Future.failedFuture(failure);
              }
              LOG.warn("Starting without the database. {}", failure.getMessage());
              migrateAfter(config.attemptPause());
              return Future.succeededFuture();
            });
  }

  private void migrateAfter(Duration pause) {
    vertx.setTimer(
        pause.toMillis(),
        _ -> {
          if (!stopping) {
            migration = node.schema().migrate(vertx).onFailure(this::migrationFailed);
          }
        });
  }

  private void migrationFailed(Throwable failure) {
    if (failure instanceof Schema.DatabaseAway) {
      migrateAfter(config.attemptPause());
    } else {
      LOG.error("Stored responses cannot be used. {}", failure.getMessage());
      migrateAfter(QUIET);
    }
  }

  private void answer(Stores stores, Message<ToSession> message) {
    long start = meters.now();
    ToSession ask = message.body();
    reply(stores, ask)
        .onSuccess(
            reply -> {
              meters.answered(operation(ask), "ok", start);
              message.reply(reply);
            })
        .onFailure(
            cause -> {
              MeshException failure = known(cause);
              meters.answered(
                  operation(ask), failure.kind().name().toLowerCase(Locale.ROOT), start);
              ReplyException reply = failure.toReply();
              message.fail(reply.failureCode(), reply.getMessage());
            });
  }

  private Future<? extends FromSession> reply(Stores stores, ToSession ask) {
    Histories histories = stores.histories();
    return switch (ask) {
      case FindHistory find -> histories.find(new TurnKey(find.tenant(), find.response()));
      case StoreTurn(StoredTurn turn, ConversationAppend append) ->
          (append == null ? histories.store(turn) : stores.conversations().store(turn, append))
              .map(_ -> new TurnStored(turn.response()));
      case DeleteTurn delete -> {
        TurnKey key = new TurnKey(delete.tenant(), delete.response());
        yield histories
            .forget(key)
            .map(
                _ -> {
                  announce(key);
                  return new TurnDeleted(delete.response());
                });
      }
      case NoteFeedback note -> stores.feedbackIds().note(note);
      case ToConversation message -> stores.conversations().reply(message);
    };
  }

  private static String operation(ToSession ask) {
    return switch (ask) {
      case FindHistory _ -> "find";
      case StoreTurn _ -> "store";
      case DeleteTurn _ -> "delete";
      case NoteFeedback _ -> "note_feedback";
      case CreateConversation _ -> "create_conversation";
      case FindConversation _ -> "find_conversation";
      case ChangeConversation _ -> "change_conversation";
      case DeleteConversation _ -> "delete_conversation";
      case AppendItems _ -> "append_items";
      case RemoveItem _ -> "remove_item";
    };
  }

  private static MeshException known(Throwable cause) {
    if (cause instanceof MeshException failure) {
      return failure;
    }
    LOG.error("A message could not be answered", cause);
    return new MeshException(
        FailureKind.INTERNAL, "internal_error", "The response could not be read or stored.");
  }
}
