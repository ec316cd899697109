package firstlight.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a text has come in a grammar: all the ways that are still open. Belongs to the {@link
 * Matcher} that made it.
 */
final class MatchState {
  /** All ways are closed. */
  static final MatchState DEAD = new MatchState(List.of(), false);

  private static final int BYTES = 256;

  private final List<Way> ways;
  private final boolean complete;
  private final @Nullable MatchState[] next;

  /**
   * One way: a state that takes bytes, and where its rule goes back to.
   *
   * @param frame null: the end of the text comes after the rule
   */
  record Way(int state, @Nullable Frame frame) {}

  /** Where a rule goes back to. There is one object for each different frame. */
  static final class Frame {
    final int returnTo;
    final @Nullable Frame outer;
    final int depth;

    Frame(int returnTo, @Nullable Frame outer) {
      this.returnTo = returnTo;
      this.outer = outer;
      this.depth = outer == null ? 1 : outer.depth + 1;
    }
  }

  /**
   * @param complete whether the text may end here
   */
  MatchState(List<Way> ways, boolean complete) {
    this.ways = ways;
    this.complete = complete;
    this.next = new @Nullable MatchState[ways.isEmpty() ? 0 : BYTES];
  }

  List<Way> ways() {
    return ways;
  }

  boolean isComplete() {
    return complete;
  }

  boolean isDead() {
    return ways.isEmpty() && !complete;
  }

  /** The state after a byte, where it was computed before. */
  @Nullable MatchState known(int value) {
    return ways.isEmpty() ? DEAD : next[value];
  }

  void know(int value, MatchState state) {
    next[value] = state;
  }
}
