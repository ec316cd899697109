package firstlight.model;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the text form of a {@link Grammar}. For one text. */
final class GrammarParser {
  private static final int SOURCE_MAX = 1 << 19;
  private static final int DEPTH_MAX = 100;
  private static final int TIMES_MAX = 100_000;
  private static final int NAME_MAX = 200;

  private final String source;
  private int at;
  private int depth;

  GrammarParser(String source) {
    if (source.length() > SOURCE_MAX) {
      throw new InvalidGrammar("the grammar has more than %d characters".formatted(SOURCE_MAX));
    }
    this.source = source;
  }

  Grammar grammar() {
    Map<String, GrammarNode> rules = new LinkedHashMap<>();
    skip(true);
    while (at < source.length()) {
      String name = name();
      skip(false);
      if (!source.startsWith("::=", at)) {
        throw wrong("'::=' is missing after the name of a rule");
      }
      at += 3;
      skip(true);
      if (rules.put(name, choice(false)) != null) {
        throw wrong("the rule '%s' is there twice".formatted(name));
      }
      skip(true);
    }
    return new Grammar(rules);
  }

  /** Alternatives; inside brackets they may go over several lines. */
  private GrammarNode choice(boolean inBrackets) {
    if (++depth > DEPTH_MAX) {
      throw wrong("brackets are nested deeper than %d".formatted(DEPTH_MAX));
    }
    List<GrammarNode> options = new ArrayList<>();
    options.add(sequence(inBrackets));
    while (peek() == '|') {
      at++;
      skip(true);
      options.add(sequence(inBrackets));
    }
    depth--;
    return GrammarNode.choice(options);
  }

  private GrammarNode sequence(boolean inBrackets) {
    List<GrammarNode> parts = new ArrayList<>();
    while (at < source.length()) {
      int c = peek();
      if (c == '"') {
        parts.add(repeated(new GrammarNode.Text(text())));
      } else if (c == '[') {
        parts.add(repeated(new GrammarNode.Character(set())));
      } else if (c == '.') {
        at++;
        parts.add(repeated(new GrammarNode.Character(CharacterSet.ALL)));
      } else if (c == '(') {
        parts.add(repeated(brackets()));
      } else if (isNameCharacter(c)) {
        parts.add(repeated(new GrammarNode.Reference(name())));
      } else {
        break;
      }
      skip(inBrackets);
    }
    int end = peek();
    if (end >= 0 && end != '|' && end != ')' && end != '\n') {
      throw wrong("unexpected %s".formatted(InvalidModelFile.shown(Character.toString(end))));
    }
    return GrammarNode.sequence(parts.toArray(GrammarNode[]::new));
  }

  private GrammarNode brackets() {
    at++;
    skip(true);
    GrammarNode inside = choice(true);
    skip(true);
    if (peek() != ')') {
      throw wrong("')' is missing");
    }
    at++;
    return inside;
  }

  private GrammarNode repeated(GrammarNode node) {
    GrammarNode result = node;
    while (true) {
      int @Nullable [] times =
          switch (peek()) {
            case '*' -> new int[] {0, GrammarNode.MANY};
            case '+' -> new int[] {1, GrammarNode.MANY};
            case '?' -> new int[] {0, 1};
            case '{' -> times();
            default -> null;
          };
      if (times == null) {
        return result;
      }
      at++;
      result = new GrammarNode.Repeat(result, times[0], times[1]);
    }
  }

  /** Stops at the closing brace. */
  private int[] times() {
    at++;
    int min = peek() == ',' ? 0 : number();
    int max = min;
    if (peek() == ',') {
      at++;
      max = peek() == '}' ? GrammarNode.MANY : number();
    }
    if (peek() != '}' || max != GrammarNode.MANY && max < min) {
      throw wrong("a repetition must be {n}, {n,}, {,m} or {n,m} with n not above m");
    }
    return new int[] {min, max};
  }

  private int number() {
    int from = at;
    int value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + (peek() - '0');
      at++;
      if (value > TIMES_MAX) {
        throw wrong("a repetition is at most %d".formatted(TIMES_MAX));
      }
    }
    if (at == from) {
      throw wrong("a number is missing");
    }
    return value;
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    at++;
    while (peek() != '"') {
      text.appendCodePoint(character());
    }
    at++;
    return text.toString();
  }

  private CharacterSet set() {
    at++;
    boolean not = peek() == '^';
    at += not ? 1 : 0;
    CharacterSet set = CharacterSet.NONE;
    while (peek() != ']') {
      int from = character();
      int to = from;
      if (peek() == '-' && at + 1 < source.length() && source.charAt(at + 1) != ']') {
        at++;
        to = character();
      }
      if (to < from) {
        throw wrong("a range of characters goes backwards");
      }
      set = set.union(CharacterSet.range(from, to));
    }
    at++;
    return not ? set.complement() : set;
  }

  private int character() {
    int c = peek();
    if (c < 0 || c == '\n') {
      throw wrong("a text or a set of characters is not closed");
    }
    at += Character.charCount(c);
    return c == '\\' ? escaped() : c;
  }

  private int escaped() {
    int c = peek();
    at++;
    return switch (c) {
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'x' -> hexadecimal(2);
      case 'u' -> hexadecimal(4);
      case 'U' -> hexadecimal(8);
      case '"', '\\', '[', ']', '-', '^', '/' -> c;
      default -> throw wrong("an unknown escape after '\\'");
    };
  }

  private int hexadecimal(int digits) {
    int character = Hexadecimal.character(source, at, digits);
    if (character < 0) {
      throw wrong("a character needs %d hexadecimal digits".formatted(digits));
    }
    at += digits;
    return character;
  }

  private String name() {
    int from = at;
    while (isNameCharacter(peek())) {
      at++;
    }
    if (at == from || at - from > NAME_MAX) {
      throw wrong("the name of a rule is missing or too long");
    }
    return source.substring(from, at);
  }

  private static boolean isNameCharacter(int c) {
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || c == '-'
        || c == '_';
  }

  /** Goes over blanks and comments, and over line ends where they mean nothing. */
  private void skip(boolean lines) {
    while (true) {
      int c = peek();
      if (c == '#') {
        int end = source.indexOf('\n', at);
        at = end < 0 ? source.length() : end;
      } else if (c == ' ' || c == '\t' || c == '\r' || lines && c == '\n') {
        at++;
      } else {
        return;
      }
    }
  }

  private int peek() {
    return at < source.length() ? source.codePointAt(at) : -1;
  }

  private InvalidGrammar wrong(String reason) {
    long line = source.substring(0, Math.min(at, source.length())).lines().count();
    return new InvalidGrammar("grammar, line %d: %s".formatted(Math.max(1, line), reason));
  }
}
