package firstlight.batcher;

import firstlight.protocol.Priority;
import java.util.Set;

/**
 * Whose turn it is among the priorities. The highest goes first, but while a lower one has
 * something to do it is owed a tenth of what those above it get, and has its turn when that is
 * enough: it never starves, and no flood of it takes more than that.
 */
final class PriorityTurns {
  /** One prompt token for so many of higher priorities. */
  static final int LOWER_SHARE = 10;

  /** Prompt tokens owed when a turn begins. */
  private static final int TURN_TOKENS = 64;

  private static final Priority[] ALL = Priority.values();

  /** Tokens of higher priorities that were not yet made up for; below 0: had too much. */
  private final long[] owed = new long[ALL.length];

  private final boolean[] turn = new boolean[ALL.length];

  /**
   * @param asking priorities that have something to do, at least one
   */
  Priority next(Set<Priority> asking) {
    Priority highest = highest(asking);
    for (Priority priority : ALL) {
      int at = priority.ordinal();
      turn[at] = owed[at] >= TURN_TOKENS * LOWER_SHARE || (turn[at] && owed[at] > 0);
      if (turn[at] && asking.contains(priority)) {
        return priority;
      }
    }
    return highest;
  }

  /** Prompt tokens of a priority go into a Step. */
  void served(Priority served, int tokens, Set<Priority> asking) {
    Priority highest = highest(asking);
    for (Priority priority : ALL) {
      int at = priority.ordinal();
      if (priority.compareTo(served) < 0) {
        owed[at] += tokens;
      }
      if (!asking.contains(priority)) {
        owed[at] = Math.min(owed[at], 0);
      }
    }
    if (served.compareTo(highest) < 0) {
      owed[served.ordinal()] -= (long) LOWER_SHARE * tokens;
    }
  }

  private static Priority highest(Set<Priority> asking) {
    return asking.stream().max(Priority::compareTo).orElse(Priority.NORMAL);
  }
}
