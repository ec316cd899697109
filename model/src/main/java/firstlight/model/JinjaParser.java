package firstlight.model;

import firstlight.model.JinjaToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parses a template. What would reach outside it (include, import, extends) is refused here. */
final class JinjaParser {
  private static final int SOURCE_MAX = 1 << 18;

  private final JinjaTokens tokens;
  private final JinjaExpressionParser expressions;

  private JinjaParser(JinjaTokens tokens) {
    this.tokens = tokens;
    this.expressions = new JinjaExpressionParser(tokens);
  }

  static List<JinjaNode> parse(String source) {
    if (source.length() > SOURCE_MAX) {
      throw new TemplateException("the chat template is longer than %d".formatted(SOURCE_MAX));
    }
    JinjaParser parser = new JinjaParser(new JinjaTokens(JinjaLexer.tokens(source)));
    List<JinjaNode> nodes = parser.body(Set.of());
    if (parser.tokens.peek().kind() != Kind.END) {
      throw parser.tokens.error("\"%s\" closes nothing".formatted(parser.tokens.peek().text()));
    }
    return nodes;
  }

  /** Statements up to a tag with one of these names, whose name is then the next token. */
  private List<JinjaNode> body(Set<String> ends) {
    List<JinjaNode> nodes = new ArrayList<>();
    while (true) {
      JinjaToken token = tokens.peek();
      switch (token.kind()) {
        case DATA -> nodes.add(new JinjaNode.Text(tokens.take().text()));
        case PRINT_BEGIN -> {
          tokens.take();
          nodes.add(new JinjaNode.Print(expressions.tuple()));
          tokens.expect(Kind.PRINT_END);
        }
        case TAG_BEGIN -> {
          tokens.take();
          String name = tokens.peek().text();
          if (ends.contains(name) || name.startsWith("end") || name.startsWith("el")) {
            return checkedEnd(nodes, ends, name);
          }
          tokens.expect(Kind.NAME);
          nodes.addAll(tokens.nested(() -> statement(name)));
        }
        default -> {
          if (!ends.isEmpty()) {
            throw tokens.error("one of %s is missing".formatted(ends));
          }
          return nodes;
        }
      }
    }
  }

  private List<JinjaNode> checkedEnd(List<JinjaNode> nodes, Set<String> ends, String name) {
    if (!ends.contains(name)) {
      throw tokens.error("\"%s\" is not expected here".formatted(name));
    }
    return nodes;
  }

  private List<JinjaNode> statement(String name) {
    return switch (name) {
      case "if" -> List.of(ifs());
      case "for" -> List.of(loop());
      case "set" -> List.of(set());
      case "macro" -> List.of(macro());
      case "call" -> List.of(call());
      case "with" -> List.of(with());
      case "filter" -> {
        JinjaExpression filters = filterChain(expressions.filter(new JinjaExpression.Name("body")));
        yield List.of(
            new JinjaNode.FilterBlock(new JinjaNode.Filtered(block("endfilter"), filters)));
      }
      // Marks what an assistant wrote, for training; its text is as without it.
      case "generation" -> block("endgeneration");
      case "break" -> single(new JinjaNode.Break());
      case "continue" -> single(new JinjaNode.Continue());
      case "include", "import", "from", "extends", "block" ->
          throw tokens.error("\"%s\" is not allowed in a chat template".formatted(name));
      default -> throw tokens.error("there is no tag \"%s\"".formatted(name));
    };
  }

  private List<JinjaNode> single(JinjaNode node) {
    tokens.expect(Kind.TAG_END);
    return List.of(node);
  }

  /** The rest of the opening tag, a body, and the closing tag. */
  private List<JinjaNode> block(String end) {
    tokens.expect(Kind.TAG_END);
    List<JinjaNode> nodes = body(Set.of(end));
    tokens.take();
    tokens.expect(Kind.TAG_END);
    return nodes;
  }

  private JinjaNode ifs() {
    List<JinjaNode.Branch> branches = new ArrayList<>();
    List<JinjaNode> otherwise = List.of();
    String tag = "if";
    while (!tag.equals("endif")) {
      JinjaExpression condition = tag.equals("else") ? null : expressions.tuple();
      tokens.expect(Kind.TAG_END);
      List<JinjaNode> body =
          body(condition == null ? Set.of("endif") : Set.of("elif", "else", "endif"));
      if (condition == null) {
        otherwise = body;
      } else {
        branches.add(new JinjaNode.Branch(condition, body));
      }
      tag = tokens.take().text();
    }
    tokens.expect(Kind.TAG_END);
    return new JinjaNode.If(branches, otherwise);
  }

  private JinjaNode loop() {
    List<String> names = names();
    tokens.expectName("in");
    JinjaExpression items = expressions.or();
    JinjaExpression condition = tokens.takeName("if") ? expressions.expression() : null;
    tokens.expect(Kind.TAG_END);
    List<JinjaNode> body = body(Set.of("else", "endfor"));
    List<JinjaNode> otherwise = List.of();
    if (tokens.take().text().equals("else")) {
      tokens.expect(Kind.TAG_END);
      otherwise = body(Set.of("endfor"));
      tokens.take();
    }
    tokens.expect(Kind.TAG_END);
    return new JinjaNode.For(names, items, condition, body, otherwise);
  }

  private List<String> names() {
    boolean bracketed = tokens.takeOperator("(");
    List<String> names = new ArrayList<>();
    do {
      names.add(tokens.expect(Kind.NAME));
    } while (tokens.takeOperator(","));
    if (bracketed) {
      tokens.expectOperator(")");
    }
    return names;
  }

  private JinjaNode set() {
    List<String> names = names();
    if (names.size() == 1 && tokens.takeOperator(".")) {
      String attribute = tokens.expect(Kind.NAME);
      tokens.expectOperator("=");
      JinjaExpression value = expressions.tuple();
      tokens.expect(Kind.TAG_END);
      return new JinjaNode.SetAttribute(names.get(0), attribute, value);
    }
    if (tokens.takeOperator("=")) {
      JinjaExpression value = expressions.tuple();
      tokens.expect(Kind.TAG_END);
      return new JinjaNode.Set(names, value);
    }
    JinjaExpression filters = filterChain(new JinjaExpression.Name("body"));
    return new JinjaNode.SetBlock(names.get(0), new JinjaNode.Filtered(block("endset"), filters));
  }

  private JinjaExpression filterChain(JinjaExpression start) {
    JinjaExpression value = start;
    while (tokens.takeOperator("|")) {
      JinjaExpression target = value;
      value = tokens.nested(() -> expressions.filter(target));
    }
    return value;
  }

  private JinjaNode macro() {
    String name = tokens.expect(Kind.NAME);
    return macro(name, "endmacro");
  }

  private JinjaNode.Macro macro(String name, String end) {
    List<String> parameters = new ArrayList<>();
    List<@Nullable JinjaExpression> defaults = new ArrayList<>();
    if (tokens.takeOperator("(")) {
      while (!tokens.takeOperator(")")) {
        parameters.add(tokens.expect(Kind.NAME));
        defaults.add(tokens.takeOperator("=") ? expressions.expression() : null);
        if (!tokens.isOperator(")")) {
          tokens.expectOperator(",");
        }
      }
    }
    return new JinjaNode.Macro(name, parameters, defaults, block(end));
  }

  private JinjaNode call() {
    JinjaTokens from = tokens;
    if (from.isOperator("(")) {
      throw from.error("a call with parameters is not supported");
    }
    if (!(expressions.expression() instanceof JinjaExpression.Call call)) {
      throw tokens.error("a call expected");
    }
    return new JinjaNode.CallBlock(call, macro("caller", "endcall"));
  }

  private JinjaNode with() {
    List<JinjaNode.Set> values = new ArrayList<>();
    while (tokens.peek().kind() == Kind.NAME) {
      String name = tokens.take().text();
      tokens.expectOperator("=");
      values.add(new JinjaNode.Set(List.of(name), expressions.expression()));
      tokens.takeOperator(",");
    }
    return new JinjaNode.With(values, block("endwith"));
  }
}
