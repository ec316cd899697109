package firstlight.model;

import java.util.List;
import java.util.Map;

/** Writes a grammar as text. */
final class GrammarPrinter {
  private final StringBuilder text = new StringBuilder();

  String print(Grammar grammar) {
    for (Map.Entry<String, GrammarNode> rule : grammar.rules().entrySet()) {
      text.append(rule.getKey()).append(" ::= ");
      choice(rule.getValue());
      text.append('\n');
    }
    return text.toString();
  }

  private void choice(GrammarNode node) {
    if (node instanceof GrammarNode.Choice(List<GrammarNode> options)) {
      join(options, " | ");
    } else {
      sequence(node);
    }
  }

  private void sequence(GrammarNode node) {
    if (node instanceof GrammarNode.Sequence(List<GrammarNode> parts) && !parts.isEmpty()) {
      join(parts, " ");
    } else {
      single(node);
    }
  }

  private void join(List<GrammarNode> nodes, String between) {
    for (int i = 0; i < nodes.size(); i++) {
      text.append(i == 0 ? "" : between);
      if (between.equals(" ")) {
        single(nodes.get(i));
      } else {
        sequence(nodes.get(i));
      }
    }
  }

  private void single(GrammarNode node) {
    switch (node) {
      case GrammarNode.Text(String value) -> quote(value);
      case GrammarNode.Character(CharacterSet set) -> set(set);
      case GrammarNode.Reference(String rule) -> text.append(rule);
      case GrammarNode.Repeat(GrammarNode repeated, int min, int max) -> {
        if (repeated instanceof GrammarNode.Repeat) {
          inBrackets(repeated);
        } else {
          single(repeated);
        }
        text.append(times(min, max));
      }
      case GrammarNode.Sequence(List<GrammarNode> parts) when parts.isEmpty() ->
          text.append("\"\"");
      case GrammarNode.Sequence _, GrammarNode.Choice _ -> inBrackets(node);
    }
  }

  private void inBrackets(GrammarNode node) {
    text.append('(');
    choice(node);
    text.append(')');
  }

  private static String times(int min, int max) {
    if (max == GrammarNode.MANY) {
      return min == 0 ? "*" : min == 1 ? "+" : "{" + min + ",}";
    }
    if (min == 0 && max == 1) {
      return "?";
    }
    return min == max ? "{" + min + "}" : "{" + min + "," + max + "}";
  }

  private void quote(String value) {
    text.append('"');
    value.codePoints().forEach(c -> character(c, "\"\\"));
    text.append('"');
  }

  private void set(CharacterSet set) {
    text.append('[');
    for (CharacterSet.Range range : set.ranges()) {
      character(range.from(), "[]-^\\");
      if (range.to() > range.from()) {
        text.append('-');
        character(range.to(), "[]-^\\");
      }
    }
    text.append(']');
  }

  private void character(int c, String escaped) {
    if (escaped.indexOf(c) >= 0) {
      text.append('\\').append((char) c);
    } else if (c >= 0x20 && c < 0x7F) {
      text.append((char) c);
    } else if (c == '\n') {
      text.append("\\n");
    } else if (c == '\t') {
      text.append("\\t");
    } else if (c == '\r') {
      text.append("\\r");
    } else if (c <= 0xFF) {
      text.append("\\x%02X".formatted(c));
    } else if (c <= 0xFFFF) {
      text.append("\\u%04X".formatted(c));
    } else {
      text.append("\\U%08X".formatted(c));
    }
  }
}
