package firstlight.model;

import java.util.List;

/** A part of a {@link Grammar}: a set of texts. */
sealed interface GrammarNode {
  /** As {@link Repeat#max}: without an end. */
  int MANY = -1;

  /** The empty text, and nothing else. */
  GrammarNode EMPTY = new Sequence(List.of());

  /** One character out of a set. */
  record Character(CharacterSet set) implements GrammarNode {}

  /** Exactly this text. */
  record Text(String text) implements GrammarNode {}

  /** One after the other. */
  record Sequence(List<GrammarNode> parts) implements GrammarNode {
    public Sequence {
      parts = List.copyOf(parts);
    }
  }

  /** One of these. */
  record Choice(List<GrammarNode> options) implements GrammarNode {
    public Choice {
      options = List.copyOf(options);
    }
  }

  /**
   * Several times the same.
   *
   * @param max {@link #MANY}, or not below min
   */
  record Repeat(GrammarNode node, int min, int max) implements GrammarNode {}

  /** What a rule says, by its name. */
  record Reference(String rule) implements GrammarNode {}

  static GrammarNode text(String text) {
    return new Text(text);
  }

  static GrammarNode sequence(GrammarNode... parts) {
    return parts.length == 1 ? parts[0] : new Sequence(List.of(parts));
  }

  static GrammarNode choice(List<GrammarNode> options) {
    return options.size() == 1 ? options.getFirst() : new Choice(options);
  }

  static GrammarNode optional(GrammarNode node) {
    return new Repeat(node, 0, 1);
  }
}
