package firstlight.model;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Arithmetic as Python does it, on 64-bit integers; what does not fit is refused. */
final class JinjaArithmetic {
  private final JinjaBudget budget;

  JinjaArithmetic(JinjaBudget budget) {
    this.budget = budget;
  }

  Object apply(String operator, @Nullable Object left, @Nullable Object right) {
    if (operator.equals("~")) {
      String a = JinjaPrinter.text(left, budget);
      String b = JinjaPrinter.text(right, budget);
      return concatenated(a, b);
    }
    if (operator.equals("+") && left instanceof String a && right instanceof String b) {
      return concatenated(a, b);
    }
    if (operator.equals("+") && left instanceof List<?> a && right instanceof List<?> b) {
      budget.steps((long) a.size() + b.size());
      List<@Nullable Object> joined = new ArrayList<>(a);
      joined.addAll(b);
      return joined;
    }
    if (operator.equals("*") && (left instanceof String || left instanceof List)) {
      return repeated(left, JinjaValues.integer(right));
    }
    if (operator.equals("*") && (right instanceof String || right instanceof List)) {
      return repeated(right, JinjaValues.integer(left));
    }
    return numbers(
        operator, operand(operator, left, right, left), operand(operator, left, right, right));
  }

  private static Number operand(
      String operator, @Nullable Object left, @Nullable Object right, @Nullable Object one) {
    if (!JinjaValues.isNumber(one)) {
      throw JinjaValues.failure(
          "%s %s %s is not possible"
              .formatted(JinjaValues.kind(left), operator, JinjaValues.kind(right)));
    }
    return JinjaValues.number(one);
  }

  private String concatenated(String left, String right) {
    budget.chars((long) left.length() + right.length());
    return left + right;
  }

  private Object repeated(Object value, int count) {
    int times = Math.max(0, count);
    if (value instanceof String text) {
      budget.chars((long) text.length() * times);
      return text.repeat(times);
    }
    List<?> list = (List<?>) value;
    budget.steps((long) list.size() * times);
    List<@Nullable Object> repeated = new ArrayList<>();
    for (int i = 0; i < times && !list.isEmpty(); i++) {
      repeated.addAll(list);
    }
    return repeated;
  }

  static Number add(Number left, Number right) {
    return numbers("+", left, right);
  }

  private static Number numbers(String operator, Number left, Number right) {
    if (right.doubleValue() == 0 && List.of("/", "//", "%").contains(operator)) {
      throw JinjaValues.failure("division by zero");
    }
    try {
      return left instanceof Long a && right instanceof Long b && !operator.equals("/")
          ? whole(operator, a, b)
          : floating(operator, left.doubleValue(), right.doubleValue());
    } catch (ArithmeticException _) {
      throw JinjaValues.failure("a number becomes too large");
    }
  }

  private static Number whole(String operator, long a, long b) {
    return switch (operator) {
      case "+" -> Math.addExact(a, b);
      case "-" -> Math.subtractExact(a, b);
      case "*" -> Math.multiplyExact(a, b);
      case "//" -> Math.floorDivExact(a, b);
      case "%" -> Math.floorMod(a, b);
      default -> b < 0 ? (Number) Math.pow(a, b) : (Number) power(a, b);
    };
  }

  private static long power(long base, long exponent) {
    if (exponent > 64 && Math.abs(base) > 1) {
      throw new ArithmeticException();
    }
    long result = 1;
    for (long i = 0; i < Math.min(exponent, 64 + exponent % 2); i++) {
      result = Math.multiplyExact(result, base);
    }
    return result;
  }

  private static Double floating(String operator, double a, double b) {
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> a / b;
      case "//" -> Math.floor(a / b);
      case "%" -> a - Math.floor(a / b) * b;
      default -> Math.pow(a, b);
    };
  }
}
