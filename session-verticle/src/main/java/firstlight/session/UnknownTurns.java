package firstlight.session;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Time;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Turns that the durable tier did not have a moment ago, so that asking for them again and again
 * does not reach it each time. Shared by the session verticles of a node: safe for several threads.
 *
 * <p>Unlike the marker of a deleted turn, which keeps a turn out, such an entry yields to it: any
 * node or region may store the turn in the next moment. Here it is gone with the turn's arrival;
 * what others store is seen in the region's cache, which is asked all the same, and at the latest
 * when the entry's short time is over. Entries have a room of their own, so that whoever asks for
 * many ids that do not exist pushes out no turn.
 */
final class UnknownTurns {
  private static final int STRIPES = 1 << 12;

  private final Cache<TurnKey, Boolean> entries;

  /** How often turns have arrived, for each part of the keys. */
  private final AtomicIntegerArray arrivals = new AtomicIntegerArray(STRIPES);

  UnknownTurns(SessionConfig.Cache config, Time time) {
    this.entries =
        Caffeine.newBuilder()
            .maximumSize(config.enabled() ? config.unknownEntries() : 0)
            .expireAfterWrite(config.unknownTtl())
            .ticker(time::nanos)
            .executor(Runnable::run)
            .build();
  }

  boolean holds(TurnKey key) {
    return entries.getIfPresent(key) != null;
  }

  /** Taken before the durable tier is asked, and handed in with its answer. */
  int ticket(TurnKey key) {
    return arrivals.get(stripe(key));
  }

  /**
   * The durable tier did not have the turn. Says nothing if one arrived since the ticket was taken:
   * the answer may be older than the turn.
   */
  void add(TurnKey key, int ticket) {
    entries
        .asMap()
        .compute(key, (_, before) -> arrivals.get(stripe(key)) == ticket ? Boolean.TRUE : before);
  }

  /** They were stored here, or found in a tier. */
  void arrived(List<StoredTurn> turns) {
    for (StoredTurn turn : turns) {
      TurnKey key = TurnKey.of(turn);
      // In this order: whoever adds the entry meanwhile either sees the count or is undone.
      arrivals.incrementAndGet(stripe(key));
      entries.invalidate(key);
    }
  }

  /** At this moment. */
  long size() {
    entries.cleanUp();
    return entries.estimatedSize();
  }

  private static int stripe(TurnKey key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & STRIPES - 1;
  }
}
