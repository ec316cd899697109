package firstlight.model;

import static firstlight.model.GrammarNode.EMPTY;
import static firstlight.model.GrammarNode.MANY;
import static firstlight.model.GrammarNode.sequence;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Pairs of a name and a value in their order, those that need not be there left out or not.
 *
 * @param comma between two of them
 * @param others pairs that may come after them, any number; null: none
 */
record OrderedPairs(List<Pair> pairs, GrammarNode comma, @Nullable GrammarNode others) {
  /** One, and whether it has to be there. */
  record Pair(GrammarNode node, boolean required) {}

  /**
   * @param rule makes a rule of a node that is used several times
   */
  GrammarNode node(UnaryOperator<GrammarNode> rule) {
    return first(0, rule);
  }

  /** From a pair on, none of those before it being there. */
  private GrammarNode first(int at, UnaryOperator<GrammarNode> rule) {
    if (at == pairs.size()) {
      return others == null ? EMPTY : GrammarNode.optional(sequence(others, more(at)));
    }
    Pair pair = pairs.get(at);
    GrammarNode taken = sequence(pair.node(), rule.apply(more(at + 1)));
    return pair.required() ? taken : GrammarNode.choice(List.of(taken, first(at + 1, rule)));
  }

  /** From a pair on, some of those before it being there. */
  private GrammarNode more(int at) {
    List<GrammarNode> parts = new ArrayList<>();
    for (Pair pair : pairs.subList(at, pairs.size())) {
      GrammarNode next = sequence(comma, pair.node());
      parts.add(pair.required() ? next : GrammarNode.optional(next));
    }
    if (others != null) {
      parts.add(new GrammarNode.Repeat(sequence(comma, others), 0, MANY));
    }
    return new GrammarNode.Sequence(parts);
  }
}
