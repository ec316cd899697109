package firstlight.model;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes the states of a grammar, each node from its end to its beginning. For one grammar. */
final class AutomatonBuilder {
  private static final int STATES_MAX = 200_000;

  private final Automaton automaton = new Automaton(STATES_MAX);
  private final Map<String, Integer> ruleNumbers = new HashMap<>();

  /**
   * @throws InvalidGrammar it is too large, a rule calls itself before it takes anything, or one
   *     can never come to an end
   */
  AutomatonBuilder(Grammar grammar) {
    GrammarCheck.check(grammar);
    for (String name : grammar.rules().keySet()) {
      ruleNumbers.put(name, ruleNumbers.size());
    }
    int[] starts = new int[ruleNumbers.size()];
    grammar
        .rules()
        .forEach((name, node) -> starts[ruleNumbers.get(name)] = build(node, Automaton.END));
    automaton.ruleStarts(starts);
  }

  Automaton automaton() {
    return automaton;
  }

  int rule(String name) {
    return ruleNumbers.get(name);
  }

  /** The state from which the node leads to the next one. */
  private int build(GrammarNode node, int next) {
    return switch (node) {
      case GrammarNode.Text(String text) -> bytes(text.getBytes(StandardCharsets.UTF_8), next);
      case GrammarNode.Character(CharacterSet set) -> character(set, next);
      case GrammarNode.Reference(String rule) -> automaton.addCall(ruleNumbers.get(rule), next);
      case GrammarNode.Sequence(List<GrammarNode> parts) -> {
        int state = next;
        for (GrammarNode part : parts.reversed()) {
          state = build(part, state);
        }
        yield state;
      }
      case GrammarNode.Choice(List<GrammarNode> options) ->
          automaton.addSteps(options.stream().mapToInt(option -> build(option, next)).toArray());
      case GrammarNode.Repeat(GrammarNode repeated, int min, int max) ->
          repeat(repeated, min, max, next);
    };
  }

  private int repeat(GrammarNode node, int min, int max, int next) {
    int state = next;
    if (max == GrammarNode.MANY) {
      int loop = automaton.addSteps(new int[0]);
      automaton.steps(loop, new int[] {build(node, loop), next});
      state = loop;
    } else {
      for (int i = min; i < max; i++) {
        state = automaton.addSteps(new int[] {build(node, state), next});
      }
    }
    for (int i = 0; i < min; i++) {
      state = build(node, state);
    }
    return state;
  }

  private int bytes(byte[] bytes, int next) {
    int state = next;
    for (int i = bytes.length - 1; i >= 0; i--) {
      int value = Byte.toUnsignedInt(bytes[i]);
      state = automaton.addEdges(new int[] {value, value, state});
    }
    return state;
  }

  /** One state with an edge for each way to begin, the tails shared. */
  private int character(CharacterSet set, int next) {
    Map<List<Integer>, Integer> tails = new HashMap<>();
    List<Integer> triples = new ArrayList<>();
    for (int[] sequence : Utf8Ranges.of(set)) {
      int to = next;
      List<Integer> tail = List.of();
      for (int i = sequence.length - 2; i >= 2; i -= 2) {
        int low = sequence[i];
        int high = sequence[i + 1];
        int after = to;
        tail = prepend(low, high, tail);
        to = tails.computeIfAbsent(tail, _ -> automaton.addEdges(new int[] {low, high, after}));
      }
      triples.addAll(List.of(sequence[0], sequence[1], to));
    }
    return automaton.addEdges(triples.stream().mapToInt(Integer::intValue).toArray());
  }

  private static List<Integer> prepend(int low, int high, List<Integer> tail) {
    List<Integer> longer = new ArrayList<>(List.of(low, high));
    longer.addAll(tail);
    return longer;
  }
}
