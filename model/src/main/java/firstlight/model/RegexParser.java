package firstlight.model;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads a regular expression of ECMA 262 as JSON Schema uses it, as far as it stands for a regular
 * set of texts: no look-around, no references to groups, anchors only at the beginning and at the
 * end. For one expression.
 */
final class RegexParser {
  private static final int SOURCE_MAX = 10_000;
  private static final int DEPTH_MAX = 50;
  private static final int TIMES_MAX = 10_000;
  private static final CharacterSet DIGITS = CharacterSet.range('0', '9');
  private static final CharacterSet WORD =
      DIGITS
          .union(CharacterSet.range('a', 'z'))
          .union(CharacterSet.range('A', 'Z'))
          .union(CharacterSet.of('_'));
  private static final CharacterSet SPACE =
      CharacterSet.of("\t\n\u000B\f\r \u00A0\u1680\u2028\u2029\u202F\u205F\u3000\uFEFF")
          .union(CharacterSet.range(0x2000, 0x200A));
  private static final CharacterSet LINE_ENDS = CharacterSet.of("\n\r\u2028\u2029");

  /** What may stand before and after a pattern that has no anchors. */
  static final GrammarNode ANYTHING =
      new GrammarNode.Repeat(new GrammarNode.Character(CharacterSet.ALL), 0, GrammarNode.MANY);

  private final String source;
  private int at;
  private int depth;

  private RegexParser(String source) {
    if (source.length() > SOURCE_MAX) {
      throw new InvalidGrammar(
          "a regular expression has more than %d characters".formatted(SOURCE_MAX));
    }
    this.source = source;
  }

  /**
   * The texts in which the expression is found somewhere, as {@code pattern} of JSON Schema means
   * it.
   *
   * @throws InvalidGrammar it is wrong, or more than a regular expression
   */
  static GrammarNode found(String source) {
    return new RegexParser(source).all(ANYTHING);
  }

  /**
   * The texts that match the expression from the first character to the last.
   *
   * @throws InvalidGrammar as {@link #found}
   */
  static GrammarNode whole(String source) {
    return new RegexParser(source).all(GrammarNode.EMPTY);
  }

  /**
   * @param around what may stand where there is no anchor
   */
  private GrammarNode all(GrammarNode around) {
    List<GrammarNode> options = new ArrayList<>();
    do {
      boolean begin = take('^');
      GrammarNode option = sequence();
      boolean end = take('$');
      options.add(
          GrammarNode.sequence(
              begin ? GrammarNode.EMPTY : around, option, end ? GrammarNode.EMPTY : around));
    } while (take('|'));
    if (at < source.length()) {
      throw wrong(
          peek() == '^' || peek() == '$'
              ? "an anchor may only be the first or the last of an alternative"
              : "unexpected " + InvalidModelFile.shown(Character.toString(peek())));
    }
    return GrammarNode.choice(options);
  }

  private GrammarNode choice() {
    if (++depth > DEPTH_MAX) {
      throw wrong("groups are nested deeper than %d".formatted(DEPTH_MAX));
    }
    List<GrammarNode> options = new ArrayList<>();
    do {
      options.add(sequence());
    } while (take('|'));
    depth--;
    return GrammarNode.choice(options);
  }

  private GrammarNode sequence() {
    List<GrammarNode> parts = new ArrayList<>();
    while (at < source.length() && "|)$^".indexOf(peek()) < 0) {
      parts.add(repeated(single()));
    }
    return GrammarNode.sequence(parts.toArray(GrammarNode[]::new));
  }

  private GrammarNode repeated(GrammarNode node) {
    int min;
    int max;
    if (take('*')) {
      min = 0;
      max = GrammarNode.MANY;
    } else if (take('+')) {
      min = 1;
      max = GrammarNode.MANY;
    } else if (take('?')) {
      min = 0;
      max = 1;
    } else if (peek() == '{' && braces() > 0) {
      String[] bounds = source.substring(at + 1, braces()).split(",", -1);
      at = braces() + 1;
      min = times(bounds[0]);
      max = bounds.length == 1 ? min : bounds[1].isEmpty() ? GrammarNode.MANY : times(bounds[1]);
    } else {
      return node;
    }
    if (max != GrammarNode.MANY && max < min) {
      throw wrong("a repetition must not have its bounds in the wrong order");
    }
    // Whether it takes much or little first does not change which texts match.
    take('?');
    if (peek() == '*' || peek() == '+' || peek() == '?') {
      throw wrong("nothing to repeat");
    }
    return new GrammarNode.Repeat(node, min, max);
  }

  /** Where the braces of a repetition end; 0 when these are plain characters. */
  private int braces() {
    int end = source.indexOf('}', at);
    return end > 0 && source.substring(at + 1, end).matches("[0-9]{1,9}(,[0-9]{0,9})?") ? end : 0;
  }

  private int times(String digits) {
    int times = Integer.parseInt(digits);
    if (times > TIMES_MAX) {
      throw wrong("a repetition is at most %d".formatted(TIMES_MAX));
    }
    return times;
  }

  private GrammarNode single() {
    int c = next();
    return switch (c) {
      case '(' -> group();
      case '[' -> new GrammarNode.Character(set());
      case '.' -> new GrammarNode.Character(LINE_ENDS.complement());
      case '\\' -> new GrammarNode.Character(escape(false));
      case '*', '+', '?' -> throw wrong("nothing to repeat");
      default -> new GrammarNode.Character(CharacterSet.of(c));
    };
  }

  private GrammarNode group() {
    if (take('?')) {
      if (source.startsWith("<", at)
          && !source.startsWith("<=", at)
          && !source.startsWith("<!", at)) {
        at = source.indexOf('>', at) + 1;
        if (at == 0) {
          throw wrong("the name of a group is not closed");
        }
      } else if (!take(':')) {
        throw wrong("look-around is not supported");
      }
    }
    GrammarNode inside = choice();
    if (!take(')')) {
      throw wrong(
          peek() == '^' || peek() == '$'
              ? "anchors inside groups are not supported"
              : "')' is missing");
    }
    return inside;
  }

  private CharacterSet set() {
    boolean not = take('^');
    CharacterSet set = CharacterSet.NONE;
    while (peek() != ']') {
      CharacterSet from = member();
      if (peek() == '-' && at + 1 < source.length() && source.charAt(at + 1) != ']') {
        at++;
        set = set.union(range(from, member()));
      } else {
        set = set.union(from);
      }
    }
    at++;
    return not ? set.complement() : set;
  }

  private CharacterSet member() {
    int c = next();
    return c == '\\' ? escape(true) : CharacterSet.of(c);
  }

  private CharacterSet range(CharacterSet from, CharacterSet to) {
    if (!isOne(from) || !isOne(to)) {
      throw wrong("a range needs a character at both ends");
    }
    int first = from.ranges().getFirst().from();
    int last = to.ranges().getFirst().from();
    if (last < first) {
      throw wrong("a range of characters goes backwards");
    }
    return CharacterSet.range(first, last);
  }

  private static boolean isOne(CharacterSet set) {
    return set.ranges().size() == 1
        && set.ranges().getFirst().from() == set.ranges().getFirst().to();
  }

  private CharacterSet escape(boolean inSet) {
    int c = next();
    return switch (c) {
      case 'd' -> DIGITS;
      case 'D' -> DIGITS.complement();
      case 'w' -> WORD;
      case 'W' -> WORD.complement();
      case 's' -> SPACE;
      case 'S' -> SPACE.complement();
      case 't' -> CharacterSet.of('\t');
      case 'n' -> CharacterSet.of('\n');
      case 'r' -> CharacterSet.of('\r');
      case 'f' -> CharacterSet.of('\f');
      case 'v' -> CharacterSet.of(0x0B);
      case '0' -> CharacterSet.of(0);
      case 'x' -> CharacterSet.of(hexadecimal(2));
      case 'u' -> CharacterSet.of(take('{') ? upToBrace() : hexadecimal(4));
      default -> {
        if (inSet && c == 'b') {
          yield CharacterSet.of('\b');
        }
        if (Character.isLetterOrDigit(c)) {
          throw wrong("'\\%s' is not supported".formatted(Character.toString(c)));
        }
        yield CharacterSet.of(c);
      }
    };
  }

  private int upToBrace() {
    int end = source.indexOf('}', at);
    int value = hexadecimal(end - at);
    at++;
    return value;
  }

  private int hexadecimal(int digits) {
    int character = Hexadecimal.character(source, at, digits);
    if (character < 0) {
      throw wrong("a character's number is wrong");
    }
    at += digits;
    return character;
  }

  private int next() {
    int c = peek();
    if (c < 0) {
      throw wrong("it ends too early");
    }
    at += Character.charCount(c);
    return c;
  }

  private boolean take(int c) {
    if (peek() != c) {
      return false;
    }
    at++;
    return true;
  }

  private int peek() {
    return at < source.length() ? source.codePointAt(at) : -1;
  }

  private InvalidGrammar wrong(String reason) {
    return new InvalidGrammar(
        "regular expression %s, at character %d: %s"
            .formatted(InvalidModelFile.shown(source), at, reason));
  }
}
