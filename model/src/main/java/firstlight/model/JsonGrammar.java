package firstlight.model;

import static firstlight.model.GrammarNode.MANY;
import static firstlight.model.GrammarNode.optional;
import static firstlight.model.GrammarNode.sequence;
import static firstlight.model.GrammarNode.text;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rules of JSON itself (RFC 8259). Between its signs there may be a blank, or a new line with
 * an indent, and no more: a small model that may write blanks writes them for ever. Numbers have at
 * most {@value #DIGITS_MAX} digits before and after the point, for the same reason.
 */
final class JsonGrammar {
  static final int DIGITS_MAX = 15;
  private static final int INDENT_MAX = 20;

  static final GrammarNode SPACE = new GrammarNode.Reference("space");
  static final GrammarNode STRING = new GrammarNode.Reference("string");
  static final GrammarNode CHARACTER = new GrammarNode.Reference("character");
  static final GrammarNode VALUE = new GrammarNode.Reference("value");
  static final GrammarNode OBJECT = new GrammarNode.Reference("object");
  static final GrammarNode ARRAY = new GrammarNode.Reference("array");
  static final GrammarNode NUMBER = new GrammarNode.Reference("number");
  static final GrammarNode INTEGER = new GrammarNode.Reference("integer");
  static final GrammarNode BOOLEAN = GrammarNode.choice(List.of(text("true"), text("false")));
  static final GrammarNode NULL = text("null");

  private static final CharacterSet CONTROL = CharacterSet.range(0, 0x1F);
  static final CharacterSet PLAIN = CONTROL.union(CharacterSet.of("\"\\")).complement();
  private static final CharacterSet HEXADECIMAL =
      CharacterSet.range('0', '9')
          .union(CharacterSet.range('a', 'f'))
          .union(CharacterSet.range('A', 'F'));
  static final GrammarNode DIGIT = new GrammarNode.Character(CharacterSet.range('0', '9'));

  private static final Map<String, GrammarNode> RULES = rules();

  private JsonGrammar() {}

  /** Adds the rules that are referred to and not there. */
  static void addNeeded(Map<String, GrammarNode> rules) {
    Deque<GrammarNode> open = new ArrayDeque<>(rules.values());
    while (!open.isEmpty()) {
      switch (open.remove()) {
        case GrammarNode.Reference(String rule) -> {
          GrammarNode own = RULES.get(rule);
          if (own != null && rules.putIfAbsent(rule, own) == null) {
            open.add(own);
          }
        }
        case GrammarNode.Repeat(GrammarNode repeated, _, _) -> open.add(repeated);
        case GrammarNode.Sequence(List<GrammarNode> parts) -> open.addAll(parts);
        case GrammarNode.Choice(List<GrammarNode> options) -> open.addAll(options);
        case GrammarNode.Text _, GrammarNode.Character _ -> {}
      }
    }
  }

  private static Map<String, GrammarNode> rules() {
    Map<String, GrammarNode> rules = new LinkedHashMap<>();
    GrammarNode indent =
        new GrammarNode.Repeat(new GrammarNode.Character(CharacterSet.of(' ')), 0, INDENT_MAX);
    rules.put(
        "space", optional(GrammarNode.choice(List.of(text(" "), sequence(text("\n"), indent)))));
    rules.put("character", GrammarNode.choice(List.of(new GrammarNode.Character(PLAIN), escape())));
    rules.put("string", quoted(new GrammarNode.Repeat(CHARACTER, 0, MANY)));
    rules.put("integer", sequence(optional(text("-")), whole()));
    GrammarNode exponent =
        sequence(
            new GrammarNode.Character(CharacterSet.of("eE")),
            optional(new GrammarNode.Character(CharacterSet.of("+-"))),
            new GrammarNode.Repeat(DIGIT, 1, 2));
    rules.put(
        "number", sequence(optional(text("-")), whole(), optional(fraction()), optional(exponent)));
    rules.put("array", array(VALUE, 0, MANY));
    rules.put("object", object(sequence(STRING, colon(), VALUE)));
    rules.put(
        "value",
        GrammarNode.choice(
            List.of(OBJECT, ARRAY, STRING, NUMBER, text("true"), text("false"), NULL)));
    return rules;
  }

  /** Digits without a zero in front. */
  static GrammarNode whole() {
    return GrammarNode.choice(
        List.of(
            text("0"),
            sequence(
                new GrammarNode.Character(CharacterSet.range('1', '9')),
                new GrammarNode.Repeat(DIGIT, 0, DIGITS_MAX - 1))));
  }

  static GrammarNode fraction() {
    return sequence(text("."), new GrammarNode.Repeat(DIGIT, 1, DIGITS_MAX));
  }

  static GrammarNode colon() {
    return sequence(text(":"), SPACE);
  }

  static GrammarNode comma() {
    return sequence(text(","), SPACE);
  }

  /** Any number of the same pair. */
  static GrammarNode object(GrammarNode pair) {
    return inBrackets("{", list(pair, 0, MANY), "}");
  }

  static GrammarNode array(GrammarNode item, int min, int max) {
    return inBrackets("[", list(item, min, max), "]");
  }

  static GrammarNode inBrackets(String open, GrammarNode inside, String close) {
    return sequence(text(open), SPACE, inside, SPACE, text(close));
  }

  /** The node several times, with commas between. */
  static GrammarNode list(GrammarNode node, int min, int max) {
    if (max == 0) {
      return GrammarNode.EMPTY;
    }
    GrammarNode more =
        new GrammarNode.Repeat(
            sequence(SPACE, comma(), node), Math.max(0, min - 1), max == MANY ? MANY : max - 1);
    GrammarNode some = sequence(node, more);
    return min == 0 ? optional(some) : some;
  }

  static GrammarNode quoted(GrammarNode characters) {
    return sequence(text("\""), characters, text("\""));
  }

  /** One character as an escape; never half a surrogate pair. */
  private static GrammarNode escape() {
    GrammarNode hexadecimal = new GrammarNode.Character(HEXADECIMAL);
    GrammarNode notSurrogate =
        GrammarNode.choice(
            List.of(
                sequence(
                    new GrammarNode.Character(HEXADECIMAL.without(CharacterSet.of("dD"))),
                    hexadecimal),
                sequence(
                    new GrammarNode.Character(CharacterSet.of("dD")),
                    new GrammarNode.Character(CharacterSet.range('0', '7')))));
    return sequence(
        text("\\"),
        GrammarNode.choice(
            List.of(
                new GrammarNode.Character(CharacterSet.of("\"\\/bfnrt")),
                sequence(text("u"), notSurrogate, hexadecimal, hexadecimal))));
  }

  /** The inside of a JSON string that stands for one of these texts. */
  static GrammarNode inString(GrammarNode node) {
    return switch (node) {
      case GrammarNode.Text(String text) -> text(escaped(text));
      case GrammarNode.Character(CharacterSet set) -> inString(set);
      case GrammarNode.Sequence(List<GrammarNode> parts) ->
          new GrammarNode.Sequence(parts.stream().map(JsonGrammar::inString).toList());
      case GrammarNode.Choice(List<GrammarNode> options) ->
          new GrammarNode.Choice(options.stream().map(JsonGrammar::inString).toList());
      case GrammarNode.Repeat(GrammarNode repeated, int min, int max) ->
          new GrammarNode.Repeat(inString(repeated), min, max);
      case GrammarNode.Reference _ -> node;
    };
  }

  private static GrammarNode inString(CharacterSet set) {
    if (set.equals(CharacterSet.ALL)) {
      return CHARACTER;
    }
    List<GrammarNode> options = new ArrayList<>();
    CharacterSet plain = set.intersection(PLAIN);
    if (!plain.isEmpty()) {
      options.add(new GrammarNode.Character(plain));
    }
    for (CharacterSet.Range range : set.without(PLAIN).ranges()) {
      for (int c = range.from(); c <= range.to(); c++) {
        options.add(text(escaped(Character.toString(c))));
      }
    }
    return GrammarNode.choice(options);
  }

  /** A text as it stands in a JSON string, without the quotes. */
  static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '"' -> escaped.append("\\\"");
                case '\\' -> escaped.append("\\\\");
                case '\n' -> escaped.append("\\n");
                case '\r' -> escaped.append("\\r");
                case '\t' -> escaped.append("\\t");
                default -> {
                  if (c < 0x20) {
                    escaped.append("\\u%04x".formatted(c));
                  } else {
                    escaped.appendCodePoint(c);
                  }
                }
              }
            });
    return escaped.toString();
  }
}
