package firstlight.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The filters behind {@code |}. */
final class JinjaFilters {
  static final Set<String> NAMES =
      Set.of(
          "trim",
          "upper",
          "lower",
          "capitalize",
          "title",
          "length",
          "count",
          "replace",
          "join",
          "first",
          "last",
          "sum",
          "min",
          "max",
          "sort",
          "reverse",
          "unique",
          "map",
          "select",
          "reject",
          "selectattr",
          "rejectattr",
          "default",
          "d",
          "string",
          "int",
          "float",
          "round",
          "abs",
          "escape",
          "e",
          "safe",
          "tojson",
          "list",
          "indent",
          "items",
          "dictsort");

  private final JinjaBudget budget;
  private final JinjaMethods methods;

  JinjaFilters(JinjaBudget budget) {
    this.budget = budget;
    this.methods = new JinjaMethods(budget);
  }

  @Nullable Object apply(String name, @Nullable Object value, JinjaArguments arguments) {
    return switch (name) {
      case "default", "d" -> otherwise(value, arguments);
      case "string", "safe" -> text(value);
      case "tojson" -> JinjaJson.write(value, arguments, budget);
      case "int" -> integer(value, arguments);
      case "float" -> floating(value, arguments);
      case "round" -> round(value, arguments);
      case "abs" -> absolute(JinjaValues.number(value));
      case "length", "count" -> length(value);
      case "items" -> value instanceof Map<?, ?> map ? mapItems(map) : List.of();
      case "dictsort" -> sort(apply("items", value, arguments), JinjaFilters::caseless, false);
      case "trim", "upper", "lower", "capitalize", "title", "replace", "escape", "e", "indent" ->
          applyToText(name, text(value), arguments);
      default -> applyToList(name, value, arguments);
    };
  }

  private String text(@Nullable Object value) {
    return JinjaPrinter.text(value, budget);
  }

  private Object applyToText(String name, String text, JinjaArguments arguments) {
    budget.chars(text.length());
    return switch (name) {
      case "trim" -> JinjaMethods.strip(text, (String) arguments.get(0, "chars", null), true, true);
      case "upper" -> text.toUpperCase(Locale.ROOT);
      case "lower" -> text.toLowerCase(Locale.ROOT);
      case "capitalize" -> JinjaMethods.capitalize(text);
      case "title" -> JinjaMethods.title(text);
      case "replace" ->
          methods.replace(
              text,
              arguments.text(0, "old"),
              arguments.text(1, "new"),
              arguments.integer(2, "count", -1));
      case "indent" -> indent(text, arguments);
      default -> escape(text);
    };
  }

  private String escape(String text) {
    String escaped = text;
    String[][] pairs = {
      {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}
    };
    for (String[] pair : pairs) {
      escaped = methods.replace(escaped, pair[0], pair[1], -1);
    }
    return escaped;
  }

  private String indent(String text, JinjaArguments arguments) {
    Object width = arguments.get(0, "width", 4L);
    boolean first = arguments.flag(1, "first");
    boolean blank = arguments.flag(2, "blank");
    String margin =
        width instanceof String given
            ? given
            : " ".repeat(Math.max(0, Math.min(JinjaValues.integer(width), 1000)));
    budget.chars((long) JinjaMethods.occurrences(text, "\n") * margin.length());
    StringBuilder indented = new StringBuilder(first ? margin : "");
    String[] lines = text.split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      boolean indents = i > 0 && (blank || !lines[i].isEmpty());
      indented.append(i > 0 ? "\n" : "").append(indents ? margin : "").append(lines[i]);
    }
    return indented.toString();
  }

  private static @Nullable Object otherwise(@Nullable Object value, JinjaArguments arguments) {
    boolean missing =
        value instanceof JinjaUndefined
            || (arguments.flag(1, "boolean") && !JinjaValues.isTrue(value));
    return missing ? arguments.get(0, "default_value", "") : value;
  }

  private static @Nullable Object integer(@Nullable Object value, JinjaArguments arguments) {
    try {
      return switch (value) {
        case Long number -> number;
        case Double number -> number.longValue();
        case Boolean flag -> flag ? 1L : 0L;
        case String text when text.length() <= 32 ->
            text.contains(".") ? (long) Double.parseDouble(text) : Long.parseLong(text.strip());
        case null, default -> arguments.get(0, "default", 0L);
      };
    } catch (NumberFormatException _) {
      return arguments.get(0, "default", 0L);
    }
  }

  private static @Nullable Object floating(@Nullable Object value, JinjaArguments arguments) {
    try {
      return value instanceof String text && text.length() <= 64
          ? (Object) Double.valueOf(text)
          : JinjaValues.isNumber(value)
              ? (Object) JinjaValues.number(value).doubleValue()
              : arguments.get(0, "default", 0.0);
    } catch (NumberFormatException _) {
      return arguments.get(0, "default", 0.0);
    }
  }

  private static Object round(@Nullable Object value, JinjaArguments arguments) {
    double scale = Math.pow(10, arguments.integer(0, "precision", 0));
    double scaled = JinjaValues.number(value).doubleValue() * scale;
    return switch (arguments.text(1, "method", "common")) {
      case "ceil" -> Math.ceil(scaled) / scale;
      case "floor" -> Math.floor(scaled) / scale;
      // Half to even, as Python does it.
      default -> Math.rint(scaled) / scale;
    };
  }

  private static Object absolute(Number number) {
    return number instanceof Long whole
        ? (Object) Math.abs(whole)
        : (Object) Math.abs(number.doubleValue());
  }

  private Object length(@Nullable Object value) {
    return switch (value) {
      case String text -> {
        budget.scan(text);
        yield (long) text.codePointCount(0, text.length());
      }
      case Map<?, ?> map -> (long) map.size();
      case List<?> list -> (long) list.size();
      case null, default -> (long) JinjaValues.elements(value, budget).size();
    };
  }

  private List<Object> mapItems(Map<?, ?> map) {
    budget.steps(map.size());
    return JinjaMethods.items(map);
  }

  private @Nullable Object applyToList(
      String name, @Nullable Object value, JinjaArguments arguments) {
    List<@Nullable Object> elements = JinjaValues.elements(value, budget);
    return switch (name) {
      case "list" -> new ArrayList<>(elements);
      case "first" -> elements.isEmpty() ? new JinjaUndefined("first") : elements.getFirst();
      case "last" -> elements.isEmpty() ? new JinjaUndefined("last") : elements.getLast();
      case "join" ->
          methods.join(
              mapped(elements, arguments.get(1, "attribute", null)), arguments.text(0, "d", ""));
      case "sum" -> sum(elements, arguments);
      case "min", "max" -> extreme(elements, name.equals("max"));
      case "sort" ->
          sort(
              elements,
              one -> caseless(attribute(one, arguments.get(2, "attribute", null))),
              arguments.flag(0, "reverse"));
      case "reverse" -> value instanceof String text ? reversed(text) : reversed(elements);
      case "unique" -> unique(elements);
      case "map" -> map(elements, arguments);
      case "select", "reject" ->
          elements.stream()
              .filter(one -> holds(one, arguments) == name.equals("select"))
              .collect(ArrayList::new, List::add, List::addAll);
      default ->
          elements.stream()
              .filter(
                  one ->
                      holds(attribute(one, arguments.get(0, "attribute")), arguments.from(1))
                          == name.equals("selectattr"))
              .collect(ArrayList::new, List::add, List::addAll);
    };
  }

  private String reversed(String text) {
    budget.chars(text.length());
    return new StringBuilder(text).reverse().toString();
  }

  private static List<@Nullable Object> reversed(List<@Nullable Object> elements) {
    List<@Nullable Object> reversed = new ArrayList<>(elements);
    Collections.reverse(reversed);
    return reversed;
  }

  private boolean holds(@Nullable Object value, JinjaArguments arguments) {
    budget.steps(1);
    return arguments.positional().isEmpty()
        ? JinjaValues.isTrue(value)
        : JinjaTests.holds(arguments.text(0, "test"), value, arguments.from(1), budget);
  }

  private List<@Nullable Object> map(List<@Nullable Object> elements, JinjaArguments arguments) {
    if (arguments.named().containsKey("attribute")) {
      List<@Nullable Object> values = mapped(elements, arguments.named().get("attribute"));
      if (arguments.named().containsKey("default")) {
        values.replaceAll(
            one -> one instanceof JinjaUndefined ? arguments.named().get("default") : one);
      }
      return values;
    }
    String filter = arguments.text(0, "filter");
    List<@Nullable Object> values = new ArrayList<>();
    for (Object element : elements) {
      budget.enter();
      values.add(apply(filter, element, arguments.from(1)));
      budget.leave();
    }
    return values;
  }

  private List<@Nullable Object> mapped(
      List<@Nullable Object> elements, @Nullable Object attribute) {
    List<@Nullable Object> values = new ArrayList<>();
    elements.forEach(one -> values.add(attribute(one, attribute)));
    return values;
  }

  /** The attribute of this name, which may be several with dots between; none: the value itself. */
  private @Nullable Object attribute(@Nullable Object value, @Nullable Object name) {
    Object found = value;
    if (name instanceof String path) {
      budget.steps(path.length());
      for (String part : path.split("\\.")) {
        found = JinjaValues.item(found, part, budget);
      }
    }
    return found;
  }

  private static Object sum(List<@Nullable Object> elements, JinjaArguments arguments) {
    Number sum = JinjaValues.number(arguments.get(1, "start", 0L));
    for (Object element : elements) {
      sum = JinjaArithmetic.add(sum, JinjaValues.number(element));
    }
    return sum;
  }

  private @Nullable Object extreme(List<@Nullable Object> elements, boolean largest) {
    Object extreme = elements.isEmpty() ? new JinjaUndefined("extreme") : elements.getFirst();
    for (Object element : elements) {
      int order = JinjaValues.compare(caseless(element), caseless(extreme), budget);
      extreme = largest ? (order > 0 ? element : extreme) : (order < 0 ? element : extreme);
    }
    return extreme;
  }

  private static @Nullable Object caseless(@Nullable Object value) {
    return value instanceof String text
        ? text.toLowerCase(Locale.ROOT)
        : value instanceof List<?> pair && !pair.isEmpty() ? caseless(pair.getFirst()) : value;
  }

  private List<@Nullable Object> sort(
      @Nullable Object value,
      java.util.function.UnaryOperator<@Nullable Object> key,
      boolean descending) {
    List<@Nullable Object> sorted = new ArrayList<>(JinjaValues.elements(value, budget));
    Comparator<Object> order = (a, b) -> JinjaValues.compare(key.apply(a), key.apply(b), budget);
    sorted.sort(descending ? order.reversed() : order);
    return sorted;
  }

  private List<@Nullable Object> unique(List<@Nullable Object> elements) {
    List<@Nullable Object> unique = new ArrayList<>();
    for (Object element : elements) {
      if (unique.stream().noneMatch(one -> JinjaValues.same(one, element, budget))) {
        unique.add(element);
      }
    }
    return unique;
  }
}
