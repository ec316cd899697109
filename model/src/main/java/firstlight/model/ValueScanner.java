package firstlight.model;

/**
 * Reads one value, character by character, and writes it as JSON: of JSON itself, or of Python's
 * notation. Forgives what models often get wrong in strings and has one meaning only: characters
 * that must be escaped and are not, and escapes that there are not.
 */
final class ValueScanner {
  /** Deeper than this no reader of JSON goes. */
  private static final int DEPTH_MAX = 500;

  private static final String[] JSON_WORDS = {"true", "false", "null"};
  private static final String[] PYTHON_WORDS = {"True", "False", "None"};

  private final boolean python;
  private final StringBuilder open = new StringBuilder();
  private final StringBuilder word = new StringBuilder();
  private final NumberScanner number = new NumberScanner();
  private At at = At.VALUE;
  private char quote;
  private boolean isKey;
  private int hexadecimal;

  private enum At {
    VALUE,
    FIRST_ITEM,
    KEY,
    FIRST_KEY,
    COLON,
    NEXT,
    STRING,
    ESCAPE,
    HEXADECIMAL,
    WORD,
    NUMBER,
    OVER
  }

  /**
   * @param python whether strings may have single quotes, and words may be Python's
   */
  ValueScanner(boolean python) {
    this.python = python;
  }

  /** Whether the value is there and can take nothing more. */
  boolean isOver() {
    return at == At.OVER;
  }

  /**
   * One more character.
   *
   * @param out gets what is known of the value as JSON
   * @return whether it belongs to the value; if not, the value is either {@linkplain #isOver over},
   *     which only a number learns so late, or wrong
   */
  boolean next(char c, StringBuilder out) {
    return switch (at) {
      case STRING -> string(c, out);
      case ESCAPE -> escape(c, out);
      case HEXADECIMAL -> hexadecimal(c, out);
      case WORD -> word(c, out);
      case NUMBER -> number(c, out);
      case OVER -> false;
      default -> between(c, out);
    };
  }

  static boolean isBlank(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
  }

  private boolean between(char c, StringBuilder out) {
    if (isBlank(c)) {
      out.append(c);
      return !open.isEmpty();
    }
    return switch (at) {
      case FIRST_ITEM -> c == ']' ? close(c, out) : value(c, out);
      case FIRST_KEY -> c == '}' ? close(c, out) : key(c, out);
      case KEY -> key(c, out);
      case COLON -> c == ':' && sign(c, At.VALUE, out);
      case NEXT -> next(open.charAt(open.length() - 1), c, out);
      default -> value(c, out);
    };
  }

  private boolean next(char closing, char c, StringBuilder out) {
    if (c == ',') {
      return sign(c, closing == '}' ? At.KEY : At.VALUE, out);
    }
    return c == closing && close(c, out);
  }

  private boolean sign(char c, At then, StringBuilder out) {
    out.append(c);
    at = then;
    return true;
  }

  private boolean value(char c, StringBuilder out) {
    if (c == '{' || c == '[') {
      open.append(c == '{' ? '}' : ']');
      return open.length() <= DEPTH_MAX && sign(c, c == '{' ? At.FIRST_KEY : At.FIRST_ITEM, out);
    }
    if (isQuote(c)) {
      return string(c, false, out);
    }
    if (number.begins(c)) {
      return sign(c, At.NUMBER, out);
    }
    word.setLength(0);
    at = At.WORD;
    return word(c, out);
  }

  private boolean key(char c, StringBuilder out) {
    return isQuote(c) && string(c, true, out);
  }

  private boolean isQuote(char c) {
    return c == '"' || python && c == '\'';
  }

  private boolean string(char c, boolean key, StringBuilder out) {
    quote = c;
    isKey = key;
    return sign('"', At.STRING, out);
  }

  private boolean close(char c, StringBuilder out) {
    out.append(c);
    open.setLength(open.length() - 1);
    return valueEnds();
  }

  private boolean valueEnds() {
    at = open.isEmpty() ? At.OVER : At.NEXT;
    return true;
  }

  private boolean string(char c, StringBuilder out) {
    if (c == quote) {
      out.append('"');
      if (isKey) {
        at = At.COLON;
        return true;
      }
      return valueEnds();
    }
    if (c == '\\') {
      at = At.ESCAPE;
    } else {
      plain(c, out);
    }
    return true;
  }

  private static void plain(char c, StringBuilder out) {
    if (c < ' ' || c == '"' || c == '\\') {
      out.append(JsonGrammar.escaped(String.valueOf(c)));
    } else {
      out.append(c);
    }
  }

  private boolean escape(char c, StringBuilder out) {
    at = At.STRING;
    if ("\"\\/bfnrt".indexOf(c) >= 0) {
      out.append('\\').append(c);
    } else if (c == 'u' || c == 'x') {
      out.append(c == 'u' ? "\\u" : "\\u00");
      hexadecimal = c == 'u' ? 4 : 2;
      at = At.HEXADECIMAL;
    } else if (c == '\'') {
      out.append(c);
    } else if (c != '\n') {
      out.append("\\\\");
      plain(c, out);
    }
    return true;
  }

  private boolean hexadecimal(char c, StringBuilder out) {
    if (Character.digit(c, 16) < 0 || c > 'f') {
      return false;
    }
    out.append(c);
    if (--hexadecimal == 0) {
      at = At.STRING;
    }
    return true;
  }

  private boolean word(char c, StringBuilder out) {
    word.append(c);
    String text = word.toString();
    boolean begun = false;
    for (int i = 0; i < JSON_WORDS.length; i++) {
      if (text.equals(JSON_WORDS[i]) || python && text.equals(PYTHON_WORDS[i])) {
        out.append(JSON_WORDS[i]);
        return valueEnds();
      }
      begun |= JSON_WORDS[i].startsWith(text) || python && PYTHON_WORDS[i].startsWith(text);
    }
    return begun;
  }

  private boolean number(char c, StringBuilder out) {
    if (number.next(c)) {
      out.append(c);
      return true;
    }
    return number.isComplete() && valueEnds() && next(c, out);
  }
}
