package firstlight.model;

import static firstlight.model.GrammarNode.EMPTY;
import static firstlight.model.GrammarNode.MANY;
import static firstlight.model.GrammarNode.optional;
import static firstlight.model.GrammarNode.sequence;

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
  /** So many pairs are written within each other at most. */
  private static final int NESTED_MAX = 16;

  /** One, and whether it has to be there. */
  record Pair(GrammarNode node, boolean required) {}

  /**
   * It grows with the number of pairs, and hardly deeper: what comes from a pair on is a rule where
   * it is used twice, and the last part of the rule before it.
   *
   * @param rule makes a rule of a node
   */
  GrammarNode node(UnaryOperator<GrammarNode> rule) {
    @Nullable GrammarNode from =
        others == null
            ? null
            : sequence(others, new GrammarNode.Repeat(sequence(comma, others), 0, MANY));
    boolean must = false;
    for (int at = pairs.size() - 1; at >= 0; at--) {
      Pair pair = pairs.get(at);
      if (from == null) {
        from = pair.node();
      } else {
        from = pair.required() && at % NESTED_MAX != 0 ? from : rule.apply(from);
        GrammarNode rest = sequence(comma, from);
        GrammarNode taken = sequence(pair.node(), must ? rest : optional(rest));
        from = pair.required() ? taken : GrammarNode.choice(List.of(taken, from));
      }
      must |= pair.required();
    }
    return from == null ? EMPTY : must ? from : optional(from);
  }
}
