package firstlight.model;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tests behind {@code is}. */
final class JinjaTests {
  static final Set<String> NAMES =
      Set.of(
          "defined",
          "undefined",
          "none",
          "string",
          "number",
          "integer",
          "float",
          "boolean",
          "mapping",
          "sequence",
          "iterable",
          "callable",
          "true",
          "false",
          "odd",
          "even",
          "divisibleby",
          "eq",
          "equalto",
          "ne",
          "lt",
          "lessthan",
          "le",
          "gt",
          "greaterthan",
          "ge",
          "in",
          "upper",
          "lower",
          "sameas");

  private JinjaTests() {}

  static boolean holds(
      String name, @Nullable Object value, JinjaArguments arguments, JinjaBudget budget) {
    return switch (name) {
      case "defined" -> !(value instanceof JinjaUndefined);
      case "undefined" -> value instanceof JinjaUndefined;
      case "none" -> value == null;
      case "string" -> value instanceof String;
      case "number" -> JinjaValues.isNumber(value);
      case "integer" -> value instanceof Long;
      case "float" -> value instanceof Double;
      case "boolean" -> value instanceof Boolean;
      case "mapping" -> value instanceof Map;
      case "sequence", "iterable" ->
          value instanceof List
              || value instanceof Map
              || value instanceof String
              || value instanceof JinjaUndefined;
      case "callable" -> value instanceof JinjaFunction;
      case "true" -> Boolean.TRUE.equals(value);
      case "false" -> Boolean.FALSE.equals(value);
      case "odd" -> remainder(value, 2) == 1;
      case "even" -> remainder(value, 2) == 0;
      case "divisibleby" -> remainder(value, JinjaValues.integer(arguments.get(0, "num"))) == 0;
      case "upper" -> isCase(value, JinjaValues.string(value).toUpperCase(Locale.ROOT));
      case "lower" -> isCase(value, JinjaValues.string(value).toLowerCase(Locale.ROOT));
      case "sameas" -> isSame(value, arguments.get(0, "other"));
      case "in" -> JinjaValues.contains(arguments.get(0, "seq"), value, budget);
      default -> compares(name, value, arguments.get(0, "other"), budget);
    };
  }

  private static boolean isCase(@Nullable Object value, String wanted) {
    return wanted.equals(value) && wanted.chars().anyMatch(Character::isLetter);
  }

  private static boolean isSame(@Nullable Object value, @Nullable Object other) {
    return value == other || (value != null && value.equals(other) && !(value instanceof List));
  }

  private static long remainder(@Nullable Object value, int divisor) {
    if (divisor == 0 || !(JinjaValues.number(value) instanceof Long number)) {
      throw JinjaValues.failure("there is no remainder here");
    }
    return Math.floorMod(number, (long) divisor);
  }

  private static boolean compares(
      String name, @Nullable Object value, @Nullable Object other, JinjaBudget budget) {
    return switch (name) {
      case "eq", "equalto", "==" -> JinjaValues.same(value, other, budget);
      case "ne", "!=" -> !JinjaValues.same(value, other, budget);
      case "lt", "lessthan", "<" -> JinjaValues.compare(value, other, budget) < 0;
      case "le", "<=" -> JinjaValues.compare(value, other, budget) <= 0;
      case "gt", "greaterthan", ">" -> JinjaValues.compare(value, other, budget) > 0;
      case "ge", ">=" -> JinjaValues.compare(value, other, budget) >= 0;
      default -> throw JinjaValues.failure("there is no test \"" + name + "\"");
    };
  }
}
