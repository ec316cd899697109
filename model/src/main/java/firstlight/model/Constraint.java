package firstlight.model;

import java.util.function.IntFunction;

/**
 * A {@link Grammar} that an answer of one model must follow: says after each token which may come
 * next. Where it stands is a function of the tokens alone, so an answer can be gone on with from
 * any of its tokens. One thread's own.
 */
public final class Constraint {
  private final Matcher matcher;
  private final TokenMasks masks;
  private final IntFunction<byte[]> tokenBytes;
  private final State start;

  /** Where an answer stands. Immutable. */
  public static final class State {
    private final MatchState match;

    private State(MatchState match) {
      this.match = match;
    }

    /** Whether the answer may end here. */
    public boolean isComplete() {
      return match.isComplete();
    }

    /** Whether nothing but the end may follow. */
    public boolean isOver() {
      return match.ways().isEmpty();
    }

    /** Whether what came is outside the grammar. */
    public boolean isBroken() {
      return match.isDead();
    }
  }

  private Constraint(
      Automaton automaton,
      int root,
      TokenTrie trie,
      IntFunction<byte[]> tokenBytes,
      long bytesMax) {
    this.matcher = new Matcher(automaton);
    this.masks = new TokenMasks(matcher, trie, bytesMax);
    this.tokenBytes = tokenBytes;
    this.start = new State(matcher.start(root));
  }

  /**
   * @param trie of the model's tokens
   * @param tokenBytes the bytes of an id; none for tokens without text
   * @param bytesMax most memory, in bytes, for masks that are remembered
   * @throws InvalidGrammar the grammar is too large, or cannot be followed
   */
  public static Constraint compile(
      Grammar grammar, TokenTrie trie, IntFunction<byte[]> tokenBytes, long bytesMax) {
    AutomatonBuilder builder = new AutomatonBuilder(grammar);
    return new Constraint(
        builder.automaton(), builder.rule(Grammar.ROOT), trie, tokenBytes, bytesMax);
  }

  public State start() {
    return start;
  }

  /**
   * After one more token; one without bytes changes nothing.
   *
   * @throws InvalidGrammar the grammar leaves too many ways open at once
   */
  public State next(State state, int token) {
    MatchState match = state.match;
    for (byte value : tokenBytes.apply(token)) {
      match = matcher.next(match, Byte.toUnsignedInt(value));
    }
    return match == state.match ? state : new State(match);
  }

  /**
   * The tokens that may come next, without those that end an answer: a bit for each id, in words of
   * 64. Nobody changes it.
   *
   * @throws InvalidGrammar as {@link #next}
   */
  public long[] mask(State state) {
    return masks.mask(state.match);
  }
}
