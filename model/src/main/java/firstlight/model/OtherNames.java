package firstlight.model;

import static firstlight.model.GrammarNode.MANY;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** JSON strings that are none of some names. They have no escapes, which could hide a name. */
final class OtherNames {
  private static final int NAME_MAX = 500;
  private static final int RULE_EVERY = 32;

  private static final GrammarNode REST =
      new GrammarNode.Repeat(new GrammarNode.Character(JsonGrammar.PLAIN), 0, MANY);

  private OtherNames() {}

  private static final class Branch {
    final Map<Integer, Branch> branches = new TreeMap<>();
    boolean isName;
  }

  /**
   * @param rule makes a rule of a node, so that long names do not nest without end
   */
  static GrammarNode than(Set<String> names, UnaryOperator<GrammarNode> rule) {
    Branch root = new Branch();
    for (String name : names) {
      if (name.length() > NAME_MAX) {
        throw new InvalidGrammar(
            "the name of a property has more than %d characters".formatted(NAME_MAX));
      }
      Branch branch = root;
      for (int c : name.codePoints().toArray()) {
        branch = branch.branches.computeIfAbsent(c, _ -> new Branch());
      }
      branch.isName = true;
    }
    return JsonGrammar.quoted(below(root, 1, rule));
  }

  private static GrammarNode below(Branch branch, int depth, UnaryOperator<GrammarNode> rule) {
    List<GrammarNode> options = new ArrayList<>();
    if (!branch.isName) {
      options.add(GrammarNode.EMPTY);
    }
    CharacterSet others = JsonGrammar.PLAIN;
    for (Map.Entry<Integer, Branch> next : branch.branches.entrySet()) {
      CharacterSet one = CharacterSet.of(next.getKey());
      others = others.without(one);
      if (!JsonGrammar.PLAIN.intersection(one).isEmpty()) {
        GrammarNode rest = below(next.getValue(), depth + 1, rule);
        options.add(GrammarNode.sequence(new GrammarNode.Character(one), rest));
      }
    }
    options.add(GrammarNode.sequence(new GrammarNode.Character(others), REST));
    GrammarNode choice = GrammarNode.choice(options);
    return depth % RULE_EVERY == 0 ? rule.apply(choice) : choice;
  }
}
