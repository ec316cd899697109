package firstlight.model;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A set of texts, as rules that may refer to each other: what a constrained answer may be. Its text
 * form is GBNF, the notation of llama.cpp: {@code name ::= "text" [a-z] other (x | y)* z{2,5}},
 * beginning with the rule {@code root}. Immutable.
 */
public final class Grammar {
  static final String ROOT = "root";

  private final Map<String, GrammarNode> rules;

  /**
   * @throws InvalidGrammar there is no rule {@code root}, or one is referred to that is not there
   */
  Grammar(Map<String, GrammarNode> rules) {
    this.rules = new LinkedHashMap<>(rules);
    if (!rules.containsKey(ROOT)) {
      throw new InvalidGrammar("the grammar has no rule 'root'");
    }
    rules.values().forEach(this::checkReferences);
  }

  /** A grammar of one rule. */
  static Grammar of(GrammarNode root) {
    return new Grammar(Map.of(ROOT, root));
  }

  /**
   * Reads a grammar.
   *
   * @throws InvalidGrammar it is wrong, with the line and the reason
   */
  public static Grammar parse(String source) {
    return new GrammarParser(source).grammar();
  }

  /**
   * The texts that a regular expression of ECMA 262 matches from the first character to the last.
   *
   * @throws InvalidGrammar it is wrong, or more than a regular expression
   */
  public static Grammar ofRegex(String expression) {
    return of(RegexParser.whole(expression));
  }

  /**
   * Exactly these texts.
   *
   * @throws InvalidGrammar there are none
   */
  public static Grammar ofTexts(List<String> texts) {
    if (texts.isEmpty()) {
      throw new InvalidGrammar("there is nothing to choose from");
    }
    return of(GrammarNode.choice(texts.stream().map(GrammarNode::text).toList()));
  }

  /**
   * Its text form, from which an answer can be held to it elsewhere. It takes about as long as to
   * compile it.
   *
   * @throws InvalidGrammar it is too large, a rule refers to itself before it takes anything, or
   *     one can never come to an end
   */
  public String checked() {
    String text = toString();
    new AutomatonBuilder(parse(text)).automaton();
    return text;
  }

  Map<String, GrammarNode> rules() {
    return rules;
  }

  /**
   * As a part of a larger grammar.
   *
   * @param larger gets its rules
   * @param prefix of their names
   */
  GrammarNode into(Map<String, GrammarNode> larger, String prefix) {
    rules.forEach((name, node) -> larger.put(prefix + name, renamed(node, prefix)));
    return new GrammarNode.Reference(prefix + ROOT);
  }

  private static GrammarNode renamed(GrammarNode node, String prefix) {
    return switch (node) {
      case GrammarNode.Reference(String rule) -> new GrammarNode.Reference(prefix + rule);
      case GrammarNode.Sequence(var parts) ->
          new GrammarNode.Sequence(parts.stream().map(part -> renamed(part, prefix)).toList());
      case GrammarNode.Choice(var options) ->
          new GrammarNode.Choice(options.stream().map(option -> renamed(option, prefix)).toList());
      case GrammarNode.Repeat(var repeated, int min, int max) ->
          new GrammarNode.Repeat(renamed(repeated, prefix), min, max);
      case GrammarNode.Character _, GrammarNode.Text _ -> node;
    };
  }

  private void checkReferences(GrammarNode node) {
    switch (node) {
      case GrammarNode.Sequence(var parts) -> parts.forEach(this::checkReferences);
      case GrammarNode.Choice(var options) -> options.forEach(this::checkReferences);
      case GrammarNode.Repeat(var repeated, _, _) -> checkReferences(repeated);
      case GrammarNode.Reference(String rule) -> {
        if (!rules.containsKey(rule)) {
          throw new InvalidGrammar("there is no rule %s".formatted(InvalidModelFile.shown(rule)));
        }
      }
      case GrammarNode.Character _, GrammarNode.Text _ -> {}
    }
  }

  /** Its text form; {@link #parse} makes an equal grammar of it. */
  @Override
  public String toString() {
    return new GrammarPrinter().print(this);
  }
}
