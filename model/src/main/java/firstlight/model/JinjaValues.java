package firstlight.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The values of templates, and what Python would make of them. A value is null (none), a Boolean,
 * Long, Double, String, List, Map, {@link JinjaUndefined}, {@link JinjaNamespace}, {@link
 * JinjaLoop} or {@link JinjaFunction}; nothing else ever gets in, so there is nothing of Java to be
 * reached.
 */
final class JinjaValues {
  /** Deeper values are neither compared nor printed. */
  static final int DEPTH_MAX = 100;

  private JinjaValues() {}

  static boolean isTrue(@Nullable Object value) {
    return switch (value) {
      case null -> false;
      case Boolean flag -> flag;
      case Long number -> number != 0;
      case Double number -> number != 0;
      case String text -> !text.isEmpty();
      case List<?> list -> !list.isEmpty();
      case Map<?, ?> map -> !map.isEmpty();
      case JinjaUndefined _ -> false;
      default -> true;
    };
  }

  static String string(@Nullable Object value) {
    if (value instanceof String text) {
      return text;
    }
    throw failure("a string is needed, not " + kind(value));
  }

  static int integer(@Nullable Object value) {
    if (value instanceof Boolean flag) {
      return flag ? 1 : 0;
    }
    if (value instanceof Long number) {
      return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, number));
    }
    throw failure("an integer is needed, not " + kind(value));
  }

  /** Long or Double. */
  static Number number(@Nullable Object value) {
    return switch (value) {
      case Boolean flag -> flag ? 1L : 0L;
      case Long number -> number;
      case Double number -> number;
      case null, default -> throw failure("a number is needed, not " + kind(value));
    };
  }

  static boolean isNumber(@Nullable Object value) {
    return value instanceof Long || value instanceof Double || value instanceof Boolean;
  }

  /** The elements to go through: of a list, the chars of a text, the keys of a map. */
  static List<@Nullable Object> elements(@Nullable Object value, JinjaBudget budget) {
    return switch (value) {
      case List<?> list -> {
        budget.steps(list.size());
        @SuppressWarnings("unchecked")
        List<@Nullable Object> elements = (List<@Nullable Object>) list;
        yield elements;
      }
      case Map<?, ?> map -> {
        budget.steps(map.size());
        yield new ArrayList<>(map.keySet());
      }
      case String text -> {
        budget.steps(text.length());
        List<@Nullable Object> characters = new ArrayList<>();
        text.codePoints().forEach(c -> characters.add(Character.toString(c)));
        yield characters;
      }
      case JinjaUndefined _ -> List.of();
      case null, default -> throw failure(kind(value) + " has no elements");
    };
  }

  static boolean same(@Nullable Object left, @Nullable Object right, JinjaBudget budget) {
    budget.enter();
    boolean same = sameParts(left, right, budget);
    budget.leave();
    return same;
  }

  private static boolean sameParts(
      @Nullable Object left, @Nullable Object right, JinjaBudget budget) {
    if (isNumber(left) && isNumber(right)) {
      return compareNumbers(number(left), number(right)) == 0;
    }
    if (left instanceof List<?> a && right instanceof List<?> b) {
      boolean same = a.size() == b.size();
      for (int i = 0; same && i < a.size(); i++) {
        same = same(a.get(i), b.get(i), budget);
      }
      return same;
    }
    if (left instanceof Map<?, ?> a && right instanceof Map<?, ?> b) {
      boolean same = a.size() == b.size();
      for (Map.Entry<?, ?> entry : a.entrySet()) {
        same =
            same
                && b.containsKey(entry.getKey())
                && same(entry.getValue(), b.get(entry.getKey()), budget);
      }
      return same;
    }
    if (left instanceof JinjaUndefined && right instanceof JinjaUndefined) {
      return true;
    }
    if (left instanceof String a && right instanceof String b) {
      budget.scan(a);
      return a.equals(b);
    }
    return left == right;
  }

  /** Orders numbers and texts among themselves. */
  static int compare(@Nullable Object left, @Nullable Object right, JinjaBudget budget) {
    budget.steps(1);
    if (isNumber(left) && isNumber(right)) {
      return compareNumbers(number(left), number(right));
    }
    if (left instanceof String a && right instanceof String b) {
      budget.scan(a);
      return a.compareTo(b);
    }
    throw failure("%s and %s have no order".formatted(kind(left), kind(right)));
  }

  private static int compareNumbers(Number left, Number right) {
    return left instanceof Long a && right instanceof Long b
        ? Long.compare(a, b)
        : left.doubleValue() == right.doubleValue()
            ? 0
            : Double.compare(left.doubleValue(), right.doubleValue());
  }

  static boolean contains(@Nullable Object container, @Nullable Object part, JinjaBudget budget) {
    if (container instanceof String text) {
      budget.scan(text);
      return text.contains(string(part));
    }
    if (container instanceof Map<?, ?> map) {
      return isKey(part) && map.containsKey(part);
    }
    return elements(container, budget).stream().anyMatch(element -> same(element, part, budget));
  }

  /** Whether a mapping may have it as a key. */
  static boolean isKey(@Nullable Object value) {
    return value == null || value instanceof String || isNumber(value);
  }

  /** What {@code container[key]} is, or undefined. */
  static @Nullable Object item(
      @Nullable Object container, @Nullable Object key, JinjaBudget budget) {
    JinjaUndefined missing = new JinjaUndefined(key instanceof String name ? name : "item");
    return switch (container) {
      case Map<?, ?> map -> isKey(key) && map.containsKey(key) ? map.get(key) : missing;
      case List<?> list when key instanceof Long index -> {
        long at = index < 0 ? index + list.size() : index;
        yield at >= 0 && at < list.size() ? list.get((int) at) : missing;
      }
      case String text when key instanceof Long index -> {
        budget.scan(text);
        int length = text.codePointCount(0, text.length());
        long at = index < 0 ? index + length : index;
        yield at >= 0 && at < length
            ? Character.toString(text.codePointAt(text.offsetByCodePoints(0, (int) at)))
            : missing;
      }
      case JinjaNamespace namespace when key instanceof String name ->
          namespace.values().containsKey(name) ? namespace.values().get(name) : missing;
      case JinjaUndefined undefined -> throw failure("\"" + undefined.name() + "\" is undefined");
      case null, default -> missing;
    };
  }

  static String kind(@Nullable Object value) {
    return switch (value) {
      case null -> "none";
      case Boolean _ -> "a boolean";
      case Long _, Double _ -> "a number";
      case String _ -> "a string";
      case List<?> _ -> "a list";
      case Map<?, ?> _ -> "a mapping";
      case JinjaUndefined undefined -> "the undefined \"" + undefined.name() + "\"";
      default -> "a function";
    };
  }

  static TemplateException failure(String message) {
    return new TemplateException("the chat template fails: " + message);
  }
}
