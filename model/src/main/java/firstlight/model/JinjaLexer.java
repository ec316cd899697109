package firstlight.model;

import firstlight.model.JinjaToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts a template into tokens, and settles blanks around tags, as Jinja2 does with trim_blocks (a
 * line end right behind a tag or comment goes) and lstrip_blocks (blanks before a tag or comment
 * go, where it is the first thing on its line), and with the signs - and + inside the brackets.
 */
final class JinjaLexer {
  private static final Pattern NAME = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_]*+");
  private static final Pattern FLOAT =
      Pattern.compile("[0-9][0-9_]*+(?:\\.[0-9]++(?:[eE][+-]?[0-9]++)?|[eE][+-]?[0-9]++)");
  private static final Pattern INTEGER = Pattern.compile("0[xX][0-9a-fA-F]++|[0-9][0-9_]*+");
  private static final Pattern OPERATOR =
      Pattern.compile("//|\\*\\*|==|!=|<=|>=|[-+*/%~<>=.,:|()\\[\\]{}]");
  private static final Pattern RAW = Pattern.compile("\\{%[-+]?\\s*+raw\\s*+(-?)%\\}");
  private static final Pattern END_RAW = Pattern.compile("\\{%([-+]?)\\s*+endraw\\s*+([-+]?)%\\}");

  private final String source;
  private final List<JinjaToken> tokens = new ArrayList<>();
  private int at;
  private int line = 1;
  private boolean lineStart = true;

  private JinjaLexer(String source) {
    String text = source.replace("\r\n", "\n").replace('\r', '\n');
    this.source = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
  }

  static List<JinjaToken> tokens(String source) {
    return new JinjaLexer(source).read();
  }

  private List<JinjaToken> read() {
    while (at < source.length()) {
      int open = nextOpen(at);
      addData(open);
      if (open == source.length()) {
        break;
      }
      Matcher raw = RAW.matcher(source).region(open, source.length());
      if (raw.lookingAt()) {
        readRaw(raw);
      } else if (source.charAt(open + 1) == '#') {
        skipComment();
      } else {
        readTag(source.charAt(open + 1) == '%');
      }
    }
    add(Kind.END, "end of template");
    return tokens;
  }

  private int nextOpen(int from) {
    for (int i = source.indexOf('{', from); i >= 0; i = source.indexOf('{', i + 1)) {
      if (i + 1 < source.length() && "{%#".indexOf(source.charAt(i + 1)) >= 0) {
        return i;
      }
    }
    return source.length();
  }

  /** Takes the text up to a tag, a comment or the end, less the blanks that belong to these. */
  private void addData(int open) {
    String data = source.substring(at, open);
    advance(open);
    char kind = open < source.length() ? source.charAt(open + 1) : ' ';
    char sign = open + 2 < source.length() ? source.charAt(open + 2) : ' ';
    if (kind != ' ' && sign == '-') {
      data = data.stripTrailing();
    } else if ((kind == '%' || kind == '#') && sign != '+') {
      int lastLine = data.lastIndexOf('\n') + 1;
      if ((lastLine > 0 || lineStart) && isBlank(data, lastLine)) {
        data = data.substring(0, lastLine);
      }
    }
    if (!data.isEmpty()) {
      add(Kind.DATA, data);
    }
  }

  private static boolean isBlank(String text, int from) {
    return text.chars().skip(from).allMatch(c -> c == ' ' || c == '\t');
  }

  private void readRaw(Matcher raw) {
    advance(raw.end());
    Matcher end = END_RAW.matcher(source);
    if (!end.find(at)) {
      throw error("raw without endraw");
    }
    String data = source.substring(at, end.start());
    if (raw.group(1).equals("-")) {
      data = data.stripLeading();
    }
    add(Kind.DATA, end.group(1).equals("-") ? data.stripTrailing() : data);
    advance(end.end());
    settleBehind(end.group(2).isEmpty() ? ' ' : end.group(2).charAt(0), true);
  }

  private void skipComment() {
    int end = source.indexOf("#}", at + 2);
    if (end < 0) {
      throw error("a comment is not closed");
    }
    char sign = source.charAt(end - 1);
    advance(end + 2);
    settleBehind(sign, true);
  }

  private void readTag(boolean statement) {
    String close = statement ? "%}" : "}}";
    add(statement ? Kind.TAG_BEGIN : Kind.PRINT_BEGIN, "");
    advance(at + 2);
    if (at < source.length() && "-+".indexOf(source.charAt(at)) >= 0) {
      advance(at + 1);
    }
    int depth = 0;
    while (true) {
      skipBlanks();
      if (at >= source.length()) {
        throw error("a tag is not closed");
      }
      char sign = source.charAt(at);
      boolean signed = sign == '-' || (statement && sign == '+');
      if (depth == 0 && source.startsWith(close, signed ? at + 1 : at)) {
        add(statement ? Kind.TAG_END : Kind.PRINT_END, close);
        advance(at + (signed ? 3 : 2));
        settleBehind(signed ? sign : ' ', statement);
        return;
      }
      depth += readToken();
    }
  }

  /** Drops the blanks behind a tag that it asks to drop. */
  private void settleBehind(char sign, boolean trimsLineEnd) {
    int from = at;
    if (sign == '-') {
      skipBlanks();
    } else if (sign != '+' && trimsLineEnd && source.startsWith("\n", at)) {
      advance(at + 1);
    }
    lineStart = at > from && source.charAt(at - 1) == '\n';
  }

  private void skipBlanks() {
    int end = at;
    while (end < source.length() && Character.isWhitespace(source.charAt(end))) {
      end++;
    }
    advance(end);
  }

  /** Gives how many brackets it opens (or closes: -1). */
  private int readToken() {
    char c = source.charAt(at);
    if (c == '"' || c == '\'') {
      readString(c);
      return 0;
    }
    if (readIf(NAME, Kind.NAME) || readIf(FLOAT, Kind.FLOAT) || readIf(INTEGER, Kind.INTEGER)) {
      return 0;
    }
    if (!readIf(OPERATOR, Kind.OPERATOR)) {
      throw error("the character " + c + " is not understood");
    }
    return "([{".indexOf(c) >= 0 ? 1 : ")]}".indexOf(c) >= 0 ? -1 : 0;
  }

  private boolean readIf(Pattern pattern, Kind kind) {
    Matcher matcher = pattern.matcher(source).region(at, source.length());
    if (!matcher.lookingAt()) {
      return false;
    }
    add(kind, matcher.group());
    advance(matcher.end());
    return true;
  }

  private void readString(char quote) {
    StringBuilder text = new StringBuilder();
    int i = at + 1;
    while (i < source.length() && source.charAt(i) != quote) {
      if (source.charAt(i) == '\\' && i + 1 < source.length()) {
        i = readEscape(i + 1, text);
      } else {
        text.append(source.charAt(i++));
      }
    }
    if (i >= source.length()) {
      throw error("a string is not closed");
    }
    add(Kind.STRING, text.toString());
    advance(i + 1);
  }

  private int readEscape(int i, StringBuilder text) {
    char c = source.charAt(i);
    int plain = "ntrbfav0\\'\"".indexOf(c);
    if (plain >= 0) {
      text.append("\n\t\r\b\f\u0007\u000b\0\\'\"".charAt(plain));
      return i + 1;
    }
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      text.append('\\').append(c);
      return i + 1;
    }
    int end = Math.min(source.length(), i + 1 + digits);
    try {
      text.appendCodePoint(Integer.parseInt(source, i + 1, end, 16));
    } catch (IllegalArgumentException _) {
      throw error("a string has a wrong escape");
    }
    return end;
  }

  private void add(Kind kind, String text) {
    tokens.add(new JinjaToken(kind, text, line));
  }

  private void advance(int to) {
    for (; at < to; at++) {
      if (source.charAt(at) == '\n') {
        line++;
      }
    }
  }

  private TemplateException error(String message) {
    return new TemplateException("chat template, line %d: %s".formatted(line, message));
  }
}
