package firstlight.session;

import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;

/** One tier. Turns never change, so keeping one that is there already changes nothing. */
interface TurnStore {
  /**
   * How long a cache remembers that a turn was deleted. Longer than the longest look-up, which may
   * have read the turn before and offers it to the cache afterwards.
   */
  Duration FORGOTTEN_FOR = Duration.ofSeconds(60);

  /**
   * A turn and those it builds on, newest first, in one round trip. The chain ends at the first
   * turn that is not known here, has no parent, or uses the allowance up; it is empty when the
   * newest is not known here.
   */
  Future<List<StoredTurn>> chain(TurnKey newest, Allowance allowance);

  /**
   * @return how many of them were new here
   */
  Future<Integer> keep(List<StoredTurn> turns);

  /**
   * @return whether it was known here
   */
  Future<Boolean> forget(TurnKey key);

  /** Gives back what it holds open. */
  default Future<Void> close() {
    return Future.succeededFuture();
  }
}
