package firstlight.session;

import firstlight.protocol.FailureKind;
import firstlight.protocol.History;
import firstlight.protocol.MeshException;
import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import java.util.List;

/**
 * Finds, keeps and forgets turns across the tiers, the quickest first and the durable one last.
 * Belongs to one event loop.
 *
 * <p>A history is read along its parents. Whatever a tier does not have is asked of the next one,
 * and what that has is offered to all before it. A turn whose ancestor was deleted has no history
 * any more: it answers like a turn that never was. The durable tier is not asked for a turn that it
 * did not have a moment ago.
 */
final class Histories {
  private final List<Tier> caches;
  private final Tier durable;
  private final UnknownTurns unknown;
  private final Allowance limits;
  private final SessionMeters meters;
  private final SingleFlight<TurnKey, History> flights;

  /**
   * @param name as it stands in the metrics
   */
  record Tier(String name, TurnStore store) {}

  /**
   * @param caches which never fail to read or to keep, the quickest first
   * @param flights look-ups under way, also those of others with the same tiers
   */
  Histories(
      List<Tier> caches,
      Tier durable,
      UnknownTurns unknown,
      SingleFlight<TurnKey, History> flights,
      Allowance limits,
      SessionMeters meters) {
    this.caches = List.copyOf(caches);
    this.durable = durable;
    this.unknown = unknown;
    this.flights = flights;
    this.limits = limits;
    this.meters = meters;
  }

  /** Fails with a {@link MeshException}. */
  Future<History> find(TurnKey key) {
    return flights.join(key, () -> search(key));
  }

  /** Succeeds once the turn is durable. */
  Future<Void> store(StoredTurn turn) {
    return durable
        .store()
        .keep(List.of(turn))
        .map(
            added -> {
              // Otherwise another one is stored under this id, and that one stays.
              if (added > 0) {
                stored(List.of(turn));
              }
              return null;
            });
  }

  /** Turns became durable in another way; nobody waits for the caches. */
  void stored(List<StoredTurn> turns) {
    offer(turns, caches.size());
  }

  /**
   * Succeeds once the turn is in no tier. The caches come first: with their markers set, a look-up
   * that runs meanwhile finds the turn in the durable tier but cannot leave it in a cache.
   */
  Future<Void> forget(TurnKey key) {
    return forgetInCaches(key)
        .compose(_ -> durable.store().forget(key))
        .map(
            known -> {
              if (!known) {
                throw new MeshException(
                    FailureKind.NOT_FOUND,
                    "response_not_found",
                    "The response '%s' is not stored.".formatted(key.response()));
              }
              detachLookups();
              return null;
            });
  }

  /** Succeeds once the turn is in no cache, and cannot come back from a look-up under way. */
  Future<Void> forgetInCaches(TurnKey key) {
    Future<Boolean> forgotten = Future.succeededFuture(false);
    for (Tier cache : caches) {
      forgotten = forgotten.compose(_ -> cache.store().forget(key));
    }
    return forgotten.mapEmpty();
  }

  /** A turn was forgotten: look-ups on their way may still bring it, so nobody joins them. */
  void detachLookups() {
    flights.detach();
  }

  private Future<History> search(TurnKey key) {
    Lineage lineage = new Lineage(key, limits);
    Future<Void> search = Future.succeededFuture();
    for (int i = 0; i < caches.size(); i++) {
      int depth = i;
      search = search.compose(_ -> extend(lineage, caches.get(depth), depth));
    }
    return search.compose(_ -> extendFromDurable(lineage)).map(_ -> lineage.history());
  }

  /** Spared what it did not have a moment ago. */
  private Future<Void> extendFromDurable(Lineage lineage) {
    if (lineage.complete()) {
      return Future.succeededFuture();
    }
    TurnKey missing = lineage.missing();
    if (unknown.holds(missing)) {
      meters.unknown(durable.name());
      return Future.succeededFuture();
    }
    int ticket = unknown.ticket(missing);
    return extend(lineage, durable, caches.size())
        .map(
            _ -> {
              // A turn further up is looked for, and noted, on its own the next time.
              if (!lineage.complete() && lineage.missing().equals(missing)) {
                unknown.add(missing, ticket);
              }
              return null;
            });
  }

  private Future<Void> extend(Lineage lineage, Tier tier, int depth) {
    if (lineage.complete()) {
      return Future.succeededFuture();
    }
    long start = meters.now();
    return tier.store()
        .chain(lineage.missing(), lineage.left())
        .onFailure(_ -> meters.lookup(tier.name(), "error", start))
        .map(
            chain -> {
              lineage.add(chain);
              String outcome = lineage.complete() ? "hit" : chain.isEmpty() ? "miss" : "part";
              meters.lookup(tier.name(), outcome, start);
              offer(chain, depth);
              return null;
            });
  }

  /** Nobody waits for the caches. */
  private void offer(List<StoredTurn> turns, int depth) {
    if (!turns.isEmpty()) {
      unknown.arrived(turns);
      caches.subList(0, depth).forEach(cache -> cache.store().keep(turns));
    }
  }
}
