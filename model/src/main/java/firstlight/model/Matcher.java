package firstlight.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Follows an {@link Automaton} byte by byte. Equal positions are one {@link MatchState}, whose
 * successors are computed once, so that a text that was seen before costs a look-up a byte. One
 * thread's own.
 *
 * <p>Rules may be nested {@value #DEPTH_MAX} deep: ways that would go deeper are closed.
 */
final class Matcher {
  static final int DEPTH_MAX = 256;

  /** Ways to be in at once; more than this is a grammar made to be slow. */
  private static final int WAYS_MAX = 2_000;

  /** States that are remembered; then it begins anew, which costs time but changes nothing. */
  private static final int STATES_MAX = 20_000;

  private final Automaton automaton;
  private final Map<List<Object>, MatchState.Frame> frames = new HashMap<>();
  private final Map<List<Object>, MatchState> states = new HashMap<>();

  Matcher(Automaton automaton) {
    this.automaton = automaton;
  }

  /** Before the first byte. */
  MatchState start(int rule) {
    return at(automaton.ruleStart(rule), null);
  }

  /** In a state of the automaton. */
  MatchState at(int state, MatchState.@Nullable Frame frame) {
    return open(List.of(new MatchState.Way(state, frame)));
  }

  /**
   * After one more byte.
   *
   * @param value from 0 to 255
   * @throws InvalidGrammar there are too many ways to go on
   */
  MatchState next(MatchState state, int value) {
    MatchState known = state.known(value);
    if (known != null) {
      return known;
    }
    List<MatchState.Way> reached = new ArrayList<>();
    for (MatchState.Way way : state.ways()) {
      int[] edges = automaton.edges(way.state());
      for (int i = 0; i < edges.length; i += 3) {
        if (edges[i] <= value && value <= edges[i + 1]) {
          reached.add(new MatchState.Way(edges[i + 2], way.frame()));
        }
      }
    }
    MatchState next = reached.isEmpty() ? MatchState.DEAD : open(reached);
    state.know(value, next);
    return next;
  }

  /** Goes all steps that take no byte. */
  private MatchState open(List<MatchState.Way> from) {
    Set<MatchState.Way> seen = new LinkedHashSet<>(from);
    Deque<MatchState.Way> open = new ArrayDeque<>(seen);
    List<MatchState.Way> ways = new ArrayList<>();
    boolean complete = false;
    while (!open.isEmpty()) {
      MatchState.Way way = open.remove();
      int state = way.state();
      MatchState.Frame frame = way.frame();
      if (automaton.edges(state).length > 0) {
        ways.add(way);
      } else if (state == Automaton.END) {
        complete |= frame == null;
        if (frame != null) {
          go(frame.returnTo, frame.outer, seen, open);
        }
      } else if (automaton.isCall(state)) {
        call(state, frame, seen, open);
      } else {
        for (int step : automaton.steps(state)) {
          go(step, frame, seen, open);
        }
      }
    }
    return interned(ways, complete);
  }

  private void call(
      int state,
      MatchState.@Nullable Frame frame,
      Set<MatchState.Way> seen,
      Deque<MatchState.Way> open) {
    int returnTo = automaton.returnTo(state);
    int start = automaton.callStart(state);
    if (returnTo == Automaton.NO_RETURN) {
      go(start, frame, seen, open);
    } else if (frame == null || frame.depth < DEPTH_MAX) {
      List<Object> key = frame == null ? List.of(returnTo) : List.of(returnTo, frame);
      MatchState.Frame inner =
          frames.computeIfAbsent(key, _ -> new MatchState.Frame(returnTo, frame));
      go(start, inner, seen, open);
    }
  }

  private static void go(
      int state,
      MatchState.@Nullable Frame frame,
      Set<MatchState.Way> seen,
      Deque<MatchState.Way> open) {
    MatchState.Way way = new MatchState.Way(state, frame);
    if (seen.add(way)) {
      open.add(way);
      if (seen.size() > WAYS_MAX) {
        throw new InvalidGrammar("the constraint leaves too many ways open at once");
      }
    }
  }

  private MatchState interned(List<MatchState.Way> ways, boolean complete) {
    if (ways.isEmpty() && !complete) {
      return MatchState.DEAD;
    }
    if (states.size() >= STATES_MAX) {
      states.clear();
      frames.clear();
    }
    return states.computeIfAbsent(
        List.of(ways, complete), _ -> new MatchState(List.copyOf(ways), complete));
  }
}
