package firstlight.model;

import firstlight.model.JinjaToken.Kind;
import java.util.List;
import java.util.function.Supplier;

/** Where a parser stands in the tokens, and how deep it is in them. */
final class JinjaTokens {
  // Deeper than any real template; far from the end of the stack.
  private static final int DEPTH_MAX = 60;

  private final List<JinjaToken> tokens;
  private int at;
  private int depth;

  JinjaTokens(List<JinjaToken> tokens) {
    this.tokens = tokens;
  }

  JinjaToken peek() {
    return tokens.get(at);
  }

  JinjaToken peekSecond() {
    return tokens.get(Math.min(at + 1, tokens.size() - 1));
  }

  JinjaToken take() {
    return tokens.get(at < tokens.size() - 1 ? at++ : at);
  }

  boolean isOperator(String text) {
    return peek().is(Kind.OPERATOR, text);
  }

  boolean isName(String text) {
    return peek().is(Kind.NAME, text);
  }

  boolean takeOperator(String text) {
    return takeIf(isOperator(text));
  }

  boolean takeName(String text) {
    return takeIf(isName(text));
  }

  private boolean takeIf(boolean condition) {
    if (condition) {
      take();
    }
    return condition;
  }

  void expectOperator(String text) {
    if (!takeOperator(text)) {
      throw unexpected("\"" + text + "\"");
    }
  }

  void expectName(String text) {
    if (!takeName(text)) {
      throw unexpected("\"" + text + "\"");
    }
  }

  String expect(Kind kind) {
    if (peek().kind() != kind) {
      throw unexpected(kind.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '));
    }
    return take().text();
  }

  /** Runs a part of the parser one level deeper. */
  <T> T nested(Supplier<T> part) {
    if (++depth > DEPTH_MAX) {
      throw error("it is nested too deeply");
    }
    T result = part.get();
    depth--;
    return result;
  }

  TemplateException unexpected(String wanted) {
    return error("%s expected, not \"%s\"".formatted(wanted, peek().text()));
  }

  TemplateException error(String message) {
    return new TemplateException("chat template, line %d: %s".formatted(peek().line(), message));
  }
}
