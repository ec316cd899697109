package firstlight.session;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A tier that a look-up can do without. While it is away or too slow it seems to be empty and
 * writes pass it by; only forgetting is refused then, since it would answer with the deleted turn
 * once it is back.
 */
final class SparableTurnStore implements TurnStore {
  private static final Logger LOG = LoggerFactory.getLogger(SparableTurnStore.class);

  private final String name;
  private final TurnStore store;
  private final Duration timeout;
  private final Outage outage;
  private final SessionMeters meters;

  SparableTurnStore(
      String name, TurnStore store, Duration timeout, Outage outage, SessionMeters meters) {
    this.name = name;
    this.store = store;
    this.timeout = timeout;
    this.outage = outage;
    this.meters = meters;
    meters.away(name, outage);
  }

  @Override
  public Future<List<StoredTurn>> chain(TurnKey newest, Allowance allowance) {
    return spare(() -> store.chain(newest, allowance), List.of());
  }

  @Override
  public Future<Integer> keep(List<StoredTurn> turns) {
    return spare(() -> store.keep(turns), 0);
  }

  @Override
  public Future<Boolean> forget(TurnKey key) {
    return watch(store.forget(key))
        .recover(
            _ ->
                Future.failedFuture(
                    new MeshException(
                        FailureKind.UNAVAILABLE,
                        "session_store_unavailable",
                        "A cache that may hold the response is away, so it cannot be deleted now."
                            + " Try again in a few seconds.",
                        null,
                        PostgresRequests.RETRY_AFTER_MILLIS)));
  }

  @Override
  public Future<Void> close() {
    return store.close();
  }

  private <T> Future<T> spare(Supplier<Future<T>> attempt, T nothing) {
    if (!outage.mayTry()) {
      meters.spared(name);
      return Future.succeededFuture(nothing);
    }
    return watch(attempt.get()).otherwise(nothing);
  }

  private <T> Future<T> watch(Future<T> attempt) {
    return attempt
        .timeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .andThen(
            result -> {
              if (result.failed()) {
                failed(result.cause());
              } else if (outage.succeeded()) {
                LOG.info("{} is back", name);
              }
            });
  }

  private void failed(Throwable cause) {
    meters.failed(name);
    if (outage.failed()) {
      LOG.warn("{} is away; going on without it: {}", name, String.valueOf(cause.getMessage()));
    }
  }
}
