package firstlight.model;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An expression of a template, parsed. */
sealed interface JinjaExpression {
  record Literal(@Nullable Object value) implements JinjaExpression {}

  record Name(String name) implements JinjaExpression {}

  record ListOf(List<JinjaExpression> items) implements JinjaExpression {}

  record DictOf(List<JinjaExpression> keys, List<JinjaExpression> values)
      implements JinjaExpression {}

  record Negative(JinjaExpression operand) implements JinjaExpression {}

  record Positive(JinjaExpression operand) implements JinjaExpression {}

  record Not(JinjaExpression operand) implements JinjaExpression {}

  record And(JinjaExpression left, JinjaExpression right) implements JinjaExpression {}

  record Or(JinjaExpression left, JinjaExpression right) implements JinjaExpression {}

  /** Arithmetic, and ~. */
  record Binary(String operator, JinjaExpression left, JinjaExpression right)
      implements JinjaExpression {}

  /** A chain: {@code a < b <= c}; as many operators as operands. */
  record Compare(JinjaExpression first, List<String> operators, List<JinjaExpression> operands)
      implements JinjaExpression {}

  record Conditional(
      JinjaExpression condition, JinjaExpression then, @Nullable JinjaExpression otherwise)
      implements JinjaExpression {}

  record Attribute(JinjaExpression target, String name) implements JinjaExpression {}

  record Index(JinjaExpression target, JinjaExpression index) implements JinjaExpression {}

  record Slice(
      JinjaExpression target,
      @Nullable JinjaExpression from,
      @Nullable JinjaExpression to,
      @Nullable JinjaExpression step)
      implements JinjaExpression {}

  record Call(JinjaExpression target, Arguments arguments) implements JinjaExpression {}

  record Filter(JinjaExpression target, String name, Arguments arguments)
      implements JinjaExpression {}

  record Test(JinjaExpression target, String name, Arguments arguments)
      implements JinjaExpression {}

  record Arguments(List<JinjaExpression> positional, Map<String, JinjaExpression> named) {
    static final Arguments NONE = new Arguments(List.of(), Map.of());
  }
}
