package firstlight.bench;

import firstlight.protocol.Addresses;
import firstlight.protocol.FindHistory;
import firstlight.protocol.History;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.Settings;
import firstlight.protocol.StoreTurn;
import firstlight.protocol.Time;
import firstlight.session.SessionConfig;
import firstlight.session.SessionVerticle;
import io.micrometer.core.instrument.Counter;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * Look-ups that one tier answers, one after the other, of sessions by chance. The session verticle
 * has an event bus of its own; who asks is on another event loop, as an edge is.
 */
final class TierLookups implements Contestant, AutoCloseable {
  static final String TIER_P50 = "tier p50, ms";
  static final String TIER_P99 = "tier p99, ms";
  private static final String ANSWER_P50 = "answer p50, ms";
  private static final String ANSWER_P99 = "answer p99, ms";
  private static final int STORES_AT_ONCE = 64;
  private static final long LIMIT_SECONDS = 600;

  private final String tier;
  private final SessionTurns turns;
  private final int lookups;
  private final Time time;
  private final SplittableRandom random;
  private final ExactTimes times = new ExactTimes("firstlight_session_lookup");
  private final Vertx vertx = Vertx.vertx();
  private final Context asker = vertx.getOrCreateContext();

  /**
   * @param settings of the section {@code session}, of which that tier must be the first
   */
  TierLookups(
      String tier, Map<String, ?> settings, SessionTurns turns, int lookups, long seed, Time time) {
    this.tier = tier;
    this.turns = turns;
    this.lookups = lookups;
    this.time = time;
    this.random = new SplittableRandom(seed);
    Settings parsed = Settings.parse(new SettingsTree().putAll(settings).yaml(), _ -> null);
    SessionConfig config = SessionConfig.from(parsed);
    parsed.problems().throwIfAny();
    MeshCodec.register(vertx.eventBus());
    await(vertx.deployVerticle(new SessionVerticle(config, time, times)));
  }

  @Override
  public String name() {
    return tier;
  }

  /** Stores all sessions, in this tier and in those below it. */
  void fill() {
    List<Future<Void>> chains = new ArrayList<>();
    for (int first = 0; first < STORES_AT_ONCE; first++) {
      int start = first;
      Promise<Void> done = Promise.promise();
      asker.runOnContext(_ -> storeFrom(start, 0).onComplete(done));
      chains.add(done.future());
    }
    await(Future.all(chains));
  }

  /** So that caches are filled and the compilers are done. */
  void warmUp() {
    run(lookups);
    for (int session = 0; session < turns.sessions(); session++) {
      await(find(session));
    }
    times.takeMillis();
  }

  @Override
  public Map<String, Double> measure() {
    times.takeMillis();
    double before = hits();
    Sample answers = Sample.of(run(lookups));
    List<Double> own = times.takeMillis();
    if (hits() - before != lookups || own.size() != lookups) {
      throw new BenchFailure(
          "of %d look-ups %s answered only %.0f".formatted(lookups, tier, hits() - before));
    }
    Sample alone = Sample.of(own);
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(TIER_P50, alone.percentile(50));
    figures.put(TIER_P99, alone.percentile(99));
    figures.put(ANSWER_P50, answers.percentile(50));
    figures.put(ANSWER_P99, answers.percentile(99));
    return figures;
  }

  private double hits() {
    return times
        .find("firstlight_session_lookups")
        .tags("tier", tier, "outcome", "hit")
        .counters()
        .stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  /** Milliseconds of each answer. */
  private List<Double> run(int count) {
    List<Double> millis = new ArrayList<>(count);
    Promise<Void> done = Promise.promise();
    asker.runOnContext(_ -> ask(millis, count, done));
    await(done.future());
    return millis;
  }

  private void ask(List<Double> millis, int count, Promise<Void> done) {
    if (millis.size() == count) {
      done.complete();
      return;
    }
    long start = time.nanos();
    find(random.nextInt(turns.sessions()))
        .onFailure(done::fail)
        .onSuccess(
            history -> {
              millis.add((time.nanos() - start) / 1e6);
              if (history.turns().size() == turns.turns()) {
                ask(millis, count, done);
              } else {
                done.fail(new BenchFailure("a history is not whole"));
              }
            });
  }

  private Future<History> find(int session) {
    FindHistory message = new FindHistory(turns.tenant(), turns.newest(session));
    return vertx
        .eventBus()
        .<History>request(Addresses.SESSION, message)
        .map(answer -> answer.body());
  }

  private Future<Void> storeFrom(int session, int number) {
    if (session >= turns.sessions()) {
      return Future.succeededFuture();
    }
    boolean last = number == turns.turns() - 1;
    return vertx
        .eventBus()
        .request(Addresses.SESSION, new StoreTurn(turns.turn(session, number), null))
        .compose(
            _ -> last ? storeFrom(session + STORES_AT_ONCE, 0) : storeFrom(session, number + 1));
  }

  private static <T> void await(Future<T> future) {
    try {
      future
          .toCompletionStage()
          .toCompletableFuture()
          .orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS)
          .join();
    } catch (CompletionException e) {
      throw new BenchFailure("the sessions fail: " + e.getCause().getMessage(), e);
    }
  }

  @Override
  public void close() {
    await(vertx.close());
  }
}
