package firstlight.model;

import firstlight.model.JinjaExpression.Arguments;
import firstlight.model.JinjaToken.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Parses expressions, with the precedence of Jinja2. */
final class JinjaExpressionParser {
  // A chain of operators or filters becomes a tree as deep as it is long.
  private static final int CHAIN_MAX = 200;
  private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
  private static final Set<String> NO_TEST_ARGUMENT =
      Set.of("else", "or", "and", "if", "is", "in", "not");

  private final JinjaTokens tokens;

  JinjaExpressionParser(JinjaTokens tokens) {
    this.tokens = tokens;
  }

  JinjaExpression expression() {
    return tokens.nested(this::conditional);
  }

  /** One expression, or several with commas between, which make a list. */
  JinjaExpression tuple() {
    JinjaExpression first = expression();
    if (!tokens.isOperator(",")) {
      return first;
    }
    List<JinjaExpression> items = new ArrayList<>(List.of(first));
    while (tokens.takeOperator(",")) {
      if (tokens.isOperator(")") || tokens.peek().kind() == Kind.TAG_END) {
        break;
      }
      items.add(expression());
    }
    return new JinjaExpression.ListOf(items);
  }

  private JinjaExpression conditional() {
    JinjaExpression value = or();
    int length = 0;
    while (tokens.takeName("if")) {
      JinjaExpression condition = or();
      JinjaExpression otherwise = tokens.takeName("else") ? expression() : null;
      value = new JinjaExpression.Conditional(condition, value, otherwise);
      checkChain(++length);
    }
    return value;
  }

  /** An expression without an if at its end, which in a for would be the for's condition. */
  JinjaExpression or() {
    JinjaExpression left = and();
    for (int length = 0; tokens.takeName("or"); checkChain(++length)) {
      left = new JinjaExpression.Or(left, and());
    }
    return left;
  }

  private JinjaExpression and() {
    JinjaExpression left = not();
    for (int length = 0; tokens.takeName("and"); checkChain(++length)) {
      left = new JinjaExpression.And(left, not());
    }
    return left;
  }

  private JinjaExpression not() {
    return tokens.takeName("not")
        ? new JinjaExpression.Not(tokens.nested(this::not))
        : comparison();
  }

  private JinjaExpression comparison() {
    JinjaExpression first = sum();
    List<String> operators = new ArrayList<>();
    List<JinjaExpression> operands = new ArrayList<>();
    while (true) {
      if (tokens.peek().kind() == Kind.OPERATOR && COMPARISONS.contains(tokens.peek().text())) {
        operators.add(tokens.take().text());
      } else if (tokens.takeName("in")) {
        operators.add("in");
      } else if (tokens.isName("not") && tokens.peekSecond().is(Kind.NAME, "in")) {
        tokens.take();
        tokens.take();
        operators.add("not in");
      } else {
        break;
      }
      operands.add(sum());
    }
    return operators.isEmpty() ? first : new JinjaExpression.Compare(first, operators, operands);
  }

  private JinjaExpression sum() {
    return chain(this::concatenation, Set.of("+", "-"));
  }

  private JinjaExpression concatenation() {
    return chain(this::product, Set.of("~"));
  }

  private JinjaExpression product() {
    return chain(this::power, Set.of("*", "/", "//", "%"));
  }

  private JinjaExpression power() {
    return chain(() -> unary(true), Set.of("**"));
  }

  private JinjaExpression chain(Supplier<JinjaExpression> part, Set<String> operators) {
    JinjaExpression left = part.get();
    int length = 0;
    while (tokens.peek().kind() == Kind.OPERATOR && operators.contains(tokens.peek().text())) {
      left = new JinjaExpression.Binary(tokens.take().text(), left, part.get());
      checkChain(++length);
    }
    return left;
  }

  private JinjaExpression unary(boolean withFilters) {
    JinjaExpression value;
    if (tokens.takeOperator("-")) {
      value = new JinjaExpression.Negative(tokens.nested(() -> unary(false)));
    } else if (tokens.takeOperator("+")) {
      value = new JinjaExpression.Positive(tokens.nested(() -> unary(false)));
    } else {
      value = primary();
    }
    value = postfix(value);
    return withFilters ? filters(value) : value;
  }

  private JinjaExpression primary() {
    JinjaToken token = tokens.take();
    return switch (token.kind()) {
      case NAME -> name(token.text());
      case STRING -> {
        StringBuilder text = new StringBuilder(token.text());
        while (tokens.peek().kind() == Kind.STRING) {
          text.append(tokens.take().text());
        }
        yield new JinjaExpression.Literal(text.toString());
      }
      case INTEGER -> new JinjaExpression.Literal(integer(token.text().replace("_", "")));
      case FLOAT -> new JinjaExpression.Literal(Double.valueOf(token.text().replace("_", "")));
      case OPERATOR -> bracketed(token.text());
      default -> throw tokens.error("an expression expected");
    };
  }

  private Long integer(String digits) {
    try {
      return Long.decode(digits.startsWith("0x") ? digits : digits.replaceFirst("^0+(?=.)", ""));
    } catch (NumberFormatException _) {
      throw tokens.error("the number is too large");
    }
  }

  private static JinjaExpression name(String name) {
    return switch (name) {
      case "true", "True" -> new JinjaExpression.Literal(true);
      case "false", "False" -> new JinjaExpression.Literal(false);
      case "none", "None" -> new JinjaExpression.Literal(null);
      default -> new JinjaExpression.Name(name);
    };
  }

  private JinjaExpression bracketed(String open) {
    return switch (open) {
      case "(" -> {
        if (tokens.takeOperator(")")) {
          yield new JinjaExpression.ListOf(List.of());
        }
        JinjaExpression value = tuple();
        tokens.expectOperator(")");
        yield value;
      }
      case "[" -> {
        List<JinjaExpression> items = new ArrayList<>();
        separated("]", () -> items.add(expression()));
        yield new JinjaExpression.ListOf(items);
      }
      case "{" -> {
        List<JinjaExpression> keys = new ArrayList<>();
        List<JinjaExpression> values = new ArrayList<>();
        separated(
            "}",
            () -> {
              keys.add(expression());
              tokens.expectOperator(":");
              values.add(expression());
            });
        yield new JinjaExpression.DictOf(keys, values);
      }
      default -> throw tokens.error("\"" + open + "\" is not expected here");
    };
  }

  private void separated(String close, Runnable item) {
    while (!tokens.takeOperator(close)) {
      item.run();
      if (!tokens.isOperator(close)) {
        tokens.expectOperator(",");
      }
    }
  }

  private JinjaExpression postfix(JinjaExpression start) {
    JinjaExpression value = start;
    for (int length = 0; ; checkChain(++length)) {
      if (tokens.takeOperator(".")) {
        value =
            tokens.peek().kind() == Kind.INTEGER
                ? new JinjaExpression.Index(value, primary())
                : new JinjaExpression.Attribute(value, tokens.expect(Kind.NAME));
      } else if (tokens.takeOperator("[")) {
        value = subscript(value);
      } else if (tokens.isOperator("(")) {
        value = new JinjaExpression.Call(value, arguments());
      } else {
        return value;
      }
    }
  }

  private JinjaExpression subscript(JinjaExpression target) {
    JinjaExpression from = tokens.isOperator(":") ? null : expression();
    if (from != null && tokens.takeOperator("]")) {
      return new JinjaExpression.Index(target, from);
    }
    tokens.expectOperator(":");
    JinjaExpression to = bound();
    JinjaExpression step = tokens.takeOperator(":") ? bound() : null;
    tokens.expectOperator("]");
    return new JinjaExpression.Slice(target, from, to, step);
  }

  private @Nullable JinjaExpression bound() {
    return tokens.isOperator(":") || tokens.isOperator("]") ? null : expression();
  }

  private JinjaExpression filters(JinjaExpression start) {
    JinjaExpression value = start;
    for (int length = 0; ; checkChain(++length)) {
      if (tokens.takeOperator("|")) {
        value = filter(value);
      } else if (tokens.takeName("is")) {
        value = test(value);
      } else if (tokens.isOperator("(")) {
        value = new JinjaExpression.Call(value, arguments());
      } else {
        return value;
      }
    }
  }

  /** What follows a {@code |}. */
  JinjaExpression filter(JinjaExpression target) {
    String name = tokens.expect(Kind.NAME);
    if (!JinjaFilters.NAMES.contains(name)) {
      throw tokens.error("there is no filter \"" + name + "\" here");
    }
    return new JinjaExpression.Filter(
        target, name, tokens.isOperator("(") ? arguments() : Arguments.NONE);
  }

  private JinjaExpression test(JinjaExpression target) {
    boolean negated = tokens.takeName("not");
    String name = tokens.expect(Kind.NAME);
    if (!JinjaTests.NAMES.contains(name)) {
      throw tokens.error("there is no test \"" + name + "\" here");
    }
    JinjaToken next = tokens.peek();
    Arguments arguments = Arguments.NONE;
    if (tokens.isOperator("(")) {
      arguments = arguments();
    } else if (switch (next.kind()) {
      case NAME -> !NO_TEST_ARGUMENT.contains(next.text());
      case STRING, INTEGER, FLOAT -> true;
      case OPERATOR -> next.text().equals("[") || next.text().equals("{");
      default -> false;
    }) {
      arguments = new Arguments(List.of(postfix(primary())), Map.of());
    }
    JinjaExpression test = new JinjaExpression.Test(target, name, arguments);
    return negated ? new JinjaExpression.Not(test) : test;
  }

  Arguments arguments() {
    tokens.expectOperator("(");
    List<JinjaExpression> positional = new ArrayList<>();
    Map<String, JinjaExpression> named = new LinkedHashMap<>();
    separated(
        ")",
        () -> {
          if (tokens.peek().kind() == Kind.NAME && tokens.peekSecond().is(Kind.OPERATOR, "=")) {
            String name = tokens.take().text();
            tokens.take();
            named.put(name, expression());
          } else {
            positional.add(expression());
          }
        });
    return new Arguments(positional, named);
  }

  private void checkChain(int length) {
    if (length > CHAIN_MAX) {
      throw tokens.error("the expression is too long");
    }
  }
}
