package firstlight.model;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds the values of expressions. */
final class JinjaEvaluator {
  private final JinjaBudget budget;
  private final JinjaFilters filters;
  private final JinjaMethods methods;
  private final JinjaArithmetic arithmetic;

  JinjaEvaluator(JinjaBudget budget) {
    this.budget = budget;
    filters = new JinjaFilters(budget);
    methods = new JinjaMethods(budget);
    arithmetic = new JinjaArithmetic(budget);
  }

  boolean isTrue(JinjaExpression expression, JinjaScope scope) {
    return JinjaValues.isTrue(value(expression, scope));
  }

  @Nullable Object value(JinjaExpression expression, JinjaScope scope) {
    budget.enter();
    Object value = compute(expression, scope);
    budget.leave();
    return value;
  }

  private @Nullable Object compute(JinjaExpression expression, JinjaScope scope) {
    return switch (expression) {
      case JinjaExpression.Literal literal -> literal.value();
      case JinjaExpression.Name name -> scope.get(name.name());
      case JinjaExpression.ListOf list -> values(list.items(), scope);
      case JinjaExpression.DictOf dict -> dict(dict, scope);
      case JinjaExpression.Negative negative ->
          arithmetic.apply("-", 0L, value(negative.operand(), scope));
      case JinjaExpression.Positive positive ->
          JinjaValues.number(value(positive.operand(), scope));
      case JinjaExpression.Not not -> !isTrue(not.operand(), scope);
      case JinjaExpression.And and -> {
        Object left = value(and.left(), scope);
        yield JinjaValues.isTrue(left) ? value(and.right(), scope) : left;
      }
      case JinjaExpression.Or or -> {
        Object left = value(or.left(), scope);
        yield JinjaValues.isTrue(left) ? left : value(or.right(), scope);
      }
      case JinjaExpression.Binary binary ->
          arithmetic.apply(
              binary.operator(), value(binary.left(), scope), value(binary.right(), scope));
      case JinjaExpression.Compare compare -> compares(compare, scope);
      case JinjaExpression.Conditional conditional -> conditional(conditional, scope);
      case JinjaExpression.Attribute attribute ->
          attribute(value(attribute.target(), scope), attribute.name());
      case JinjaExpression.Index index ->
          subscript(value(index.target(), scope), value(index.index(), scope));
      case JinjaExpression.Slice slice -> slice(slice, scope);
      case JinjaExpression.Call call -> call(call, scope);
      case JinjaExpression.Filter filter ->
          filters.apply(
              filter.name(), value(filter.target(), scope), arguments(filter.arguments(), scope));
      case JinjaExpression.Test test ->
          JinjaTests.holds(
              test.name(), value(test.target(), scope), arguments(test.arguments(), scope), budget);
    };
  }

  private List<@Nullable Object> values(List<JinjaExpression> expressions, JinjaScope scope) {
    List<@Nullable Object> values = new ArrayList<>(expressions.size());
    for (JinjaExpression expression : expressions) {
      values.add(value(expression, scope));
    }
    return values;
  }

  private Map<@Nullable Object, @Nullable Object> dict(
      JinjaExpression.DictOf dict, JinjaScope scope) {
    Map<@Nullable Object, @Nullable Object> map = new LinkedHashMap<>();
    for (int i = 0; i < dict.keys().size(); i++) {
      Object key = value(dict.keys().get(i), scope);
      if (!JinjaValues.isKey(key)) {
        throw JinjaValues.failure(JinjaValues.kind(key) + " cannot be a key");
      }
      map.put(key, value(dict.values().get(i), scope));
    }
    return map;
  }

  private Object compares(JinjaExpression.Compare compare, JinjaScope scope) {
    Object left = value(compare.first(), scope);
    for (int i = 0; i < compare.operators().size(); i++) {
      Object right = value(compare.operands().get(i), scope);
      if (!compares(compare.operators().get(i), left, right)) {
        return false;
      }
      left = right;
    }
    return true;
  }

  private boolean compares(String operator, @Nullable Object left, @Nullable Object right) {
    return switch (operator) {
      case "==" -> JinjaValues.same(left, right, budget);
      case "!=" -> !JinjaValues.same(left, right, budget);
      case "in" -> JinjaValues.contains(right, left, budget);
      case "not in" -> !JinjaValues.contains(right, left, budget);
      case "<" -> JinjaValues.compare(left, right, budget) < 0;
      case "<=" -> JinjaValues.compare(left, right, budget) <= 0;
      case ">" -> JinjaValues.compare(left, right, budget) > 0;
      default -> JinjaValues.compare(left, right, budget) >= 0;
    };
  }

  private @Nullable Object conditional(JinjaExpression.Conditional conditional, JinjaScope scope) {
    if (isTrue(conditional.condition(), scope)) {
      return value(conditional.then(), scope);
    }
    return conditional.otherwise() == null
        ? new JinjaUndefined("else")
        : value(conditional.otherwise(), scope);
  }

  /** {@code target.name}: methods first, then keys. */
  private @Nullable Object attribute(@Nullable Object target, String name) {
    if (target instanceof JinjaLoop loop) {
      return loop.attribute(name);
    }
    JinjaFunction method = methods.find(target, name);
    return method != null ? method : JinjaValues.item(target, name, budget);
  }

  /** {@code target[key]}: keys first, then methods. */
  private @Nullable Object subscript(@Nullable Object target, @Nullable Object key) {
    if (key instanceof String name) {
      if (target instanceof Map<?, ?> map && map.containsKey(name)) {
        return map.get(name);
      }
      return attribute(target, name);
    }
    return JinjaValues.item(target, key, budget);
  }

  private Object slice(JinjaExpression.Slice slice, JinjaScope scope) {
    Object target = value(slice.target(), scope);
    boolean isText = target instanceof String;
    if (!isText && !(target instanceof List)) {
      throw JinjaValues.failure(JinjaValues.kind(target) + " has no slices");
    }
    List<@Nullable Object> elements = JinjaValues.elements(target, budget);
    int step = bound(slice.step(), scope, 1);
    if (step == 0) {
      throw JinjaValues.failure("a slice has the step 0");
    }
    int size = elements.size();
    int from = clamped(bound(slice.from(), scope, step > 0 ? 0 : Integer.MAX_VALUE), size, step);
    int to =
        slice.to() == null
            ? (step > 0 ? size : -1)
            : clamped(bound(slice.to(), scope, 0), size, step);
    List<@Nullable Object> chosen = new ArrayList<>();
    for (long i = from; step > 0 ? i < to : i > to; i += step) {
      chosen.add(elements.get((int) i));
    }
    return isText ? methods.join(chosen, "") : chosen;
  }

  private int bound(@Nullable JinjaExpression bound, JinjaScope scope, int otherwise) {
    Object value = bound == null ? null : value(bound, scope);
    return value == null ? otherwise : JinjaValues.integer(value);
  }

  private static int clamped(int bound, int size, int step) {
    long at = bound < 0 ? (long) bound + size : bound;
    return step > 0 ? Math.clamp(at, 0, size) : Math.clamp(at, -1, size - 1);
  }

  private @Nullable Object call(JinjaExpression.Call call, JinjaScope scope) {
    Object target = value(call.target(), scope);
    if (target instanceof JinjaFunction function) {
      return function.call(arguments(call.arguments(), scope));
    }
    throw JinjaValues.failure(JinjaValues.kind(target) + " cannot be called");
  }

  JinjaArguments arguments(JinjaExpression.Arguments arguments, JinjaScope scope) {
    Map<String, @Nullable Object> named = new HashMap<>();
    arguments.named().forEach((name, argument) -> named.put(name, value(argument, scope)));
    return new JinjaArguments(values(arguments.positional(), scope), named);
  }
}
