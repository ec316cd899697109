package firstlight.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The methods of Python's strings and dicts that templates use. */
final class JinjaMethods {
  private static final Set<String> OF_STRINGS =
      Set.of(
          "strip",
          "lstrip",
          "rstrip",
          "split",
          "rsplit",
          "splitlines",
          "startswith",
          "endswith",
          "upper",
          "lower",
          "title",
          "capitalize",
          "replace",
          "find",
          "index",
          "count",
          "join",
          "isdigit",
          "removeprefix",
          "removesuffix");
  private static final Set<String> OF_MAPS = Set.of("items", "keys", "values", "get");

  private final JinjaBudget budget;

  JinjaMethods(JinjaBudget budget) {
    this.budget = budget;
  }

  /** The method as a value, or null where there is none. */
  @Nullable JinjaFunction find(@Nullable Object target, String name) {
    if (target instanceof String text && OF_STRINGS.contains(name)) {
      return arguments -> call(text, name, arguments);
    }
    if (target instanceof Map<?, ?> map && OF_MAPS.contains(name)) {
      return arguments -> call(map, name, arguments);
    }
    return null;
  }

  private @Nullable Object call(Map<?, ?> map, String name, JinjaArguments arguments) {
    budget.steps(map.size());
    return switch (name) {
      case "items" -> items(map);
      case "keys" -> new ArrayList<>(map.keySet());
      case "values" -> new ArrayList<>(map.values());
      default -> {
        Object key = arguments.get(0, "key");
        yield JinjaValues.isKey(key) && map.containsKey(key)
            ? map.get(key)
            : arguments.get(1, "default", null);
      }
    };
  }

  static List<Object> items(Map<?, ?> map) {
    List<Object> items = new ArrayList<>();
    map.forEach((key, value) -> items.add(Arrays.asList(key, value)));
    return items;
  }

  private Object call(String text, String name, JinjaArguments arguments) {
    budget.chars(text.length());
    return switch (name) {
      case "strip" -> strip(text, chars(arguments), true, true);
      case "lstrip" -> strip(text, chars(arguments), true, false);
      case "rstrip" -> strip(text, chars(arguments), false, true);
      case "split" -> split(text, arguments, false);
      case "rsplit" -> split(text, arguments, true);
      case "splitlines" -> new ArrayList<Object>(text.lines().toList());
      case "startswith" -> isAt(arguments, text::startsWith);
      case "endswith" -> isAt(arguments, text::endsWith);
      case "upper" -> text.toUpperCase(Locale.ROOT);
      case "lower" -> text.toLowerCase(Locale.ROOT);
      case "title" -> title(text);
      case "capitalize" -> capitalize(text);
      case "replace" ->
          replace(
              text,
              arguments.text(0, "old"),
              arguments.text(1, "new"),
              arguments.integer(2, "count", -1));
      case "find" -> index(text, arguments);
      case "index" -> {
        long at = index(text, arguments);
        if (at < 0) {
          throw JinjaValues.failure("a substring is not found");
        }
        yield at;
      }
      case "count" -> (long) occurrences(text, arguments.text(0, "sub"));
      case "join" -> join(JinjaValues.elements(arguments.get(0, "iterable"), budget), text);
      case "isdigit" -> !text.isEmpty() && text.chars().allMatch(Character::isDigit);
      case "removeprefix" -> {
        String prefix = arguments.text(0, "prefix");
        yield text.startsWith(prefix) ? text.substring(prefix.length()) : text;
      }
      default -> {
        String suffix = arguments.text(0, "suffix");
        yield text.endsWith(suffix) ? text.substring(0, text.length() - suffix.length()) : text;
      }
    };
  }

  private static @Nullable String chars(JinjaArguments arguments) {
    Object chars = arguments.get(0, "chars", null);
    return chars == null ? null : JinjaValues.string(chars);
  }

  /** Takes chars off the ends, blanks where none are given. */
  static String strip(String text, @Nullable String chars, boolean left, boolean right) {
    int from = 0;
    int to = text.length();
    while (left && from < to && isOneOf(text.charAt(from), chars)) {
      from++;
    }
    while (right && to > from && isOneOf(text.charAt(to - 1), chars)) {
      to--;
    }
    return text.substring(from, to);
  }

  private static boolean isOneOf(char c, @Nullable String chars) {
    // Python's blanks are Java's two kinds together, and U+0085.
    return chars == null
        ? Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\u0085'
        : chars.indexOf(c) >= 0;
  }

  private Object isAt(JinjaArguments arguments, java.util.function.Predicate<String> holds) {
    Object wanted = arguments.get(0, "prefix");
    return wanted instanceof List<?> several
        ? several.stream().anyMatch(one -> holds.test(JinjaValues.string(one)))
        : holds.test(JinjaValues.string(wanted));
  }

  private static long index(String text, JinjaArguments arguments) {
    int at = text.indexOf(arguments.text(0, "sub"));
    return at < 0 ? -1 : text.codePointCount(0, at);
  }

  static int occurrences(String text, String part) {
    if (part.isEmpty()) {
      return text.codePointCount(0, text.length()) + 1;
    }
    int count = 0;
    for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length())) {
      count++;
    }
    return count;
  }

  /** At most {@code limit} times, without end where it is negative. */
  String replace(String text, String part, String by, int limit) {
    long growth = (long) occurrences(text, part) * Math.max(0, by.length() - part.length());
    budget.chars(text.length() + growth);
    if (limit < 0) {
      return text.replace(part, by);
    }
    StringBuilder replaced = new StringBuilder();
    int from = 0;
    int at = text.indexOf(part);
    for (int count = 0; count < limit && at >= 0 && !part.isEmpty(); count++) {
      replaced.append(text, from, at).append(by);
      from = at + part.length();
      at = text.indexOf(part, from);
    }
    return replaced.append(text, from, text.length()).toString();
  }

  String join(List<@Nullable Object> parts, String separator) {
    StringBuilder joined = new StringBuilder();
    for (int i = 0; i < parts.size(); i++) {
      String part = JinjaPrinter.text(parts.get(i), budget);
      budget.chars((long) part.length() + separator.length());
      joined.append(i == 0 ? "" : separator).append(part);
    }
    return joined.toString();
  }

  static String capitalize(String text) {
    int first = text.isEmpty() ? 0 : text.offsetByCodePoints(0, 1);
    return text.substring(0, first).toUpperCase(Locale.ROOT)
        + text.substring(first).toLowerCase(Locale.ROOT);
  }

  static String title(String text) {
    StringBuilder title = new StringBuilder(text.length());
    boolean inWord = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      title.append(inWord ? Character.toLowerCase(c) : Character.toTitleCase(c));
      inWord = Character.isLetter(c);
    }
    return title.toString();
  }

  private List<Object> split(String text, JinjaArguments arguments, boolean fromRight) {
    Object separator = arguments.get(0, "sep", null);
    int limit = arguments.integer(1, "maxsplit", -1);
    List<Object> parts =
        separator == null
            ? JinjaSplitter.atBlanks(text, limit, fromRight)
            : JinjaSplitter.at(text, JinjaValues.string(separator), limit, fromRight);
    budget.steps(parts.size());
    return parts;
  }
}
