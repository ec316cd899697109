package firstlight.session;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Time;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * This node's memory, shared by its session verticles: safe for several threads.
 *
 * <p>Deletions elsewhere are announced on the bus, which does not promise to deliver. Therefore the
 * time to live counts from the moment a turn is kept, not from its last use: it bounds how long a
 * node that missed the announcement can still answer with the turn.
 */
final class LocalTurnStore implements TurnStore {
  /** Key, record and cache node, roughly. */
  private static final int OVERHEAD_BYTES = 512;

  private static final int BYTES_PER_CHARACTER = 2;

  private final Cache<TurnKey, Entry> entries;

  /**
   * @param turn null: it was deleted
   */
  private record Entry(@Nullable StoredTurn turn) {}

  LocalTurnStore(SessionConfig.Cache config, Time time) {
    // An entry weighs at least its share, so that the one bound on bytes also bounds their number.
    int share = Math.toIntExact(Math.max(1, config.bytes() / config.entries()));
    this.entries =
        Caffeine.newBuilder()
            .maximumWeight(config.bytes())
            .weigher((TurnKey _, Entry entry) -> Math.max(share, weight(entry)))
            .expireAfter(
                Expiry.<TurnKey, Entry>writing(
                    (_, entry) -> entry.turn() == null ? FORGOTTEN_FOR : config.ttl()))
            .ticker(time::nanos)
            .executor(Runnable::run)
            .build();
  }

  @Override
  public Future<List<StoredTurn>> chain(TurnKey newest, Allowance allowance) {
    List<StoredTurn> chain = new ArrayList<>();
    ResponseId next = newest.response();
    Allowance left = allowance;
    while (next != null && !left.usedUp()) {
      Entry entry = entries.getIfPresent(new TurnKey(newest.tenant(), next));
      if (entry == null || entry.turn() == null) {
        break;
      }
      chain.add(entry.turn());
      left = left.less(entry.turn());
      next = entry.turn().parent();
    }
    return Future.succeededFuture(chain);
  }

  @Override
  public Future<Integer> keep(List<StoredTurn> turns) {
    int added = 0;
    for (StoredTurn turn : turns) {
      if (entries.asMap().putIfAbsent(TurnKey.of(turn), new Entry(turn)) == null) {
        added++;
      }
    }
    return Future.succeededFuture(added);
  }

  @Override
  public Future<Boolean> forget(TurnKey key) {
    Entry before = entries.asMap().put(key, new Entry(null));
    return Future.succeededFuture(before != null && before.turn() != null);
  }

  /** Turns and markers of deleted ones, at this moment. */
  long size() {
    entries.cleanUp();
    return entries.estimatedSize();
  }

  private static int weight(Entry entry) {
    StoredTurn turn = entry.turn();
    return turn == null
        ? OVERHEAD_BYTES
        : OVERHEAD_BYTES + BYTES_PER_CHARACTER * Allowance.characters(turn);
  }
}
