package firstlight.model;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Whether a grammar can be followed: each rule can come to an end, none refers to itself before it
 * has taken anything, and no set of characters is empty. For one grammar.
 */
final class GrammarCheck {
  private static final int RULES_MAX = 2_000;

  private final Map<String, GrammarNode> rules;
  private final Map<String, Set<String>> mentionedBy = new HashMap<>();
  private final Set<String> ending = new HashSet<>();
  private final Set<String> empty = new HashSet<>();

  private GrammarCheck(Grammar grammar) {
    this.rules = grammar.rules();
    if (rules.size() > RULES_MAX) {
      throw new InvalidGrammar("the grammar has more than %d rules".formatted(RULES_MAX));
    }
    rules.forEach((name, node) -> noteMentions(name, node));
  }

  static void check(Grammar grammar) {
    GrammarCheck check = new GrammarCheck(grammar);
    check.findEnding();
    check.spread(check.empty, check::mayBeEmpty);
    check.refuseLeftRecursion();
  }

  private void findEnding() {
    spread(ending, this::ends);
    for (String rule : rules.keySet()) {
      if (!ending.contains(rule)) {
        throw new InvalidGrammar("the rule '%s' can never come to an end".formatted(rule));
      }
    }
  }

  /** Adds the rules that hold, and again those that mention one which was added. */
  private void spread(Set<String> holding, Predicate<GrammarNode> holds) {
    Deque<String> open = new ArrayDeque<>(rules.keySet());
    while (!open.isEmpty()) {
      String rule = open.remove();
      if (!holding.contains(rule) && holds.test(rules.get(rule))) {
        holding.add(rule);
        open.addAll(mentionedBy.getOrDefault(rule, Set.of()));
      }
    }
  }

  private void noteMentions(String rule, GrammarNode node) {
    switch (node) {
      case GrammarNode.Reference(String other) ->
          mentionedBy.computeIfAbsent(other, _ -> new HashSet<>()).add(rule);
      case GrammarNode.Repeat(GrammarNode repeated, _, _) -> noteMentions(rule, repeated);
      case GrammarNode.Choice(List<GrammarNode> options) ->
          options.forEach(option -> noteMentions(rule, option));
      case GrammarNode.Sequence(List<GrammarNode> parts) ->
          parts.forEach(part -> noteMentions(rule, part));
      case GrammarNode.Text _, GrammarNode.Character _ -> {}
    }
  }

  private boolean ends(GrammarNode node) {
    return switch (node) {
      case GrammarNode.Text _ -> true;
      case GrammarNode.Character(CharacterSet set) -> !set.isEmpty();
      case GrammarNode.Sequence(List<GrammarNode> parts) -> parts.stream().allMatch(this::ends);
      case GrammarNode.Choice(List<GrammarNode> options) -> options.stream().anyMatch(this::ends);
      case GrammarNode.Repeat(GrammarNode repeated, int min, _) -> min == 0 || ends(repeated);
      case GrammarNode.Reference(String rule) -> ending.contains(rule);
    };
  }

  private boolean mayBeEmpty(GrammarNode node) {
    return switch (node) {
      case GrammarNode.Text(String text) -> text.isEmpty();
      case GrammarNode.Character _ -> false;
      case GrammarNode.Sequence(List<GrammarNode> parts) ->
          parts.stream().allMatch(this::mayBeEmpty);
      case GrammarNode.Choice(List<GrammarNode> options) ->
          options.stream().anyMatch(this::mayBeEmpty);
      case GrammarNode.Repeat(GrammarNode repeated, int min, _) -> min == 0 || mayBeEmpty(repeated);
      case GrammarNode.Reference(String rule) -> empty.contains(rule);
    };
  }

  private void refuseLeftRecursion() {
    Map<String, Set<String>> first = new HashMap<>();
    rules.forEach(
        (name, node) -> {
          Set<String> found = new HashSet<>();
          addFirst(node, found);
          first.put(name, found);
        });
    Set<String> done = new HashSet<>();
    for (String rule : rules.keySet()) {
      walk(rule, first, new HashSet<>(), done);
    }
  }

  /** The rules with which the node may begin. */
  private void addFirst(GrammarNode node, Set<String> found) {
    switch (node) {
      case GrammarNode.Reference(String rule) -> found.add(rule);
      case GrammarNode.Repeat(GrammarNode repeated, _, _) -> addFirst(repeated, found);
      case GrammarNode.Choice(List<GrammarNode> options) ->
          options.forEach(option -> addFirst(option, found));
      case GrammarNode.Sequence(List<GrammarNode> parts) -> {
        for (GrammarNode part : parts) {
          addFirst(part, found);
          if (!mayBeEmpty(part)) {
            break;
          }
        }
      }
      case GrammarNode.Text _, GrammarNode.Character _ -> {}
    }
  }

  private static void walk(
      String rule, Map<String, Set<String>> first, Set<String> path, Set<String> done) {
    if (done.contains(rule)) {
      return;
    }
    if (!path.add(rule)) {
      throw new InvalidGrammar(
          "the rule '%s' refers to itself before it takes anything".formatted(rule));
    }
    for (String next : first.get(rule)) {
      walk(next, first, path, done);
    }
    path.remove(rule);
    done.add(rule);
  }
}
