package firstlight.model;

import java.util.Arrays;

/**
 * The states of a {@link Grammar} over bytes of UTF-8. A state either has edges that each take a
 * byte, or steps that take none: to other states, into a rule (coming back to another state when
 * that is through), or, for {@link #END}, back out of a rule. Read-only once built.
 */
final class Automaton {
  /** The end of whatever rule it is. */
  static final int END = 0;

  /** A rule after which there is nothing more of the rule that called it. */
  static final int NO_RETURN = -1;

  private static final int[] NONE = {};
  private static final int NO_CALL = -1;

  private final int statesMax;
  private int size;
  private int[][] edges = new int[64][];
  private int[][] steps = new int[64][];
  private int[] calls = new int[64];
  private int[] returns = new int[64];
  private int[] ruleStarts = {};

  Automaton(int statesMax) {
    this.statesMax = statesMax;
    add(NONE, NONE, NO_CALL, NO_RETURN);
  }

  /** Triples of lowest byte, highest byte and next state. */
  int[] edges(int state) {
    return edges[state];
  }

  /** States that are reached without a byte. */
  int[] steps(int state) {
    return steps[state];
  }

  boolean isCall(int state) {
    return calls[state] != NO_CALL;
  }

  /** Where the rule begins that this state goes into. */
  int callStart(int state) {
    return ruleStarts[calls[state]];
  }

  /** Where it goes on afterwards, or {@link #NO_RETURN}. */
  int returnTo(int state) {
    return returns[state];
  }

  int ruleStart(int rule) {
    return ruleStarts[rule];
  }

  int addEdges(int[] triples) {
    return add(triples, NONE, NO_CALL, NO_RETURN);
  }

  int addSteps(int[] to) {
    return add(NONE, to, NO_CALL, NO_RETURN);
  }

  /** Where a state's steps go is known only later in a loop. */
  void steps(int state, int[] to) {
    steps[state] = to;
  }

  int addCall(int rule, int returnTo) {
    return add(NONE, NONE, rule, returnTo == END ? NO_RETURN : returnTo);
  }

  void ruleStarts(int[] starts) {
    ruleStarts = starts.clone();
  }

  private int add(int[] triples, int[] to, int call, int returnTo) {
    if (size == statesMax) {
      throw new InvalidGrammar("the constraint is too large: more than %d states".formatted(size));
    }
    if (size == edges.length) {
      edges = Arrays.copyOf(edges, size * 2);
      steps = Arrays.copyOf(steps, size * 2);
      calls = Arrays.copyOf(calls, size * 2);
      returns = Arrays.copyOf(returns, size * 2);
    }
    edges[size] = triples;
    steps[size] = to;
    calls[size] = call;
    returns[size] = returnTo;
    return size++;
  }
}
