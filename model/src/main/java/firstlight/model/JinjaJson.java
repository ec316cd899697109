package firstlight.model;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Writes JSON as Python's json.dumps does, with the settings Hugging Face gives it. */
final class JinjaJson {
  private final StringBuilder out = new StringBuilder();
  private final JinjaBudget budget;
  private final @Nullable String indent;
  private final String itemSeparator;
  private final String keySeparator;
  private final boolean ascii;
  private final boolean sorted;

  private JinjaJson(JinjaArguments arguments, JinjaBudget budget) {
    this.budget = budget;
    indent = indent(arguments.get(1, "indent", null));
    ascii = arguments.flag(0, "ensure_ascii");
    sorted = arguments.flag(3, "sort_keys");
    if (arguments.get(2, "separators", null) instanceof List<?> separators
        && separators.size() == 2) {
      itemSeparator = JinjaValues.string(separators.get(0));
      keySeparator = JinjaValues.string(separators.get(1));
    } else {
      itemSeparator = indent == null ? ", " : ",";
      keySeparator = ": ";
    }
  }

  private static @Nullable String indent(@Nullable Object value) {
    return switch (value) {
      case null -> null;
      case String text -> text;
      default -> " ".repeat(Math.max(0, Math.min(JinjaValues.integer(value), 16)));
    };
  }

  static String write(@Nullable Object value, JinjaArguments arguments, JinjaBudget budget) {
    JinjaJson json = new JinjaJson(arguments, budget);
    json.write(value, 0);
    return json.out.toString();
  }

  private void write(@Nullable Object value, int depth) {
    if (depth > JinjaValues.DEPTH_MAX) {
      throw JinjaValues.failure("a value is nested too deeply for JSON");
    }
    budget.steps(1);
    switch (value) {
      case null -> append("null");
      case Boolean flag -> append(flag.toString());
      case Long number -> append(number.toString());
      case Double number -> append(JinjaPrinter.number(number));
      case String text -> quote(text);
      case List<?> list -> writeList(list, depth);
      case Map<?, ?> map -> writeMap(map, depth);
      default -> throw JinjaValues.failure(JinjaValues.kind(value) + " cannot become JSON");
    }
  }

  private void writeList(List<?> list, int depth) {
    append("[");
    for (int i = 0; i < list.size(); i++) {
      append(i == 0 ? "" : itemSeparator);
      newLine(depth + 1);
      write(list.get(i), depth + 1);
    }
    if (!list.isEmpty()) {
      newLine(depth);
    }
    append("]");
  }

  private void writeMap(Map<?, ?> map, int depth) {
    append("{");
    String separator = "";
    for (Map.Entry<?, ?> entry : (sorted ? new TreeMap<>(map) : map).entrySet()) {
      append(separator);
      newLine(depth + 1);
      Object key = entry.getKey();
      if (key instanceof String text) {
        quote(text);
      } else {
        append("\"");
        write(key, depth + 1);
        append("\"");
      }
      append(keySeparator);
      write(entry.getValue(), depth + 1);
      separator = itemSeparator;
    }
    if (!map.isEmpty()) {
      newLine(depth);
    }
    append("}");
  }

  private void newLine(int depth) {
    if (indent != null) {
      budget.chars(1 + (long) depth * indent.length());
      out.append('\n').repeat(indent, depth);
    }
  }

  private void quote(String text) {
    budget.chars(text.length());
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          // Guards (see ControlGuard) stay as they are: they must be found again.
          if (c < ' ' || (ascii && c >= 0x7F && !ControlGuard.isGuard(c))) {
            out.append("\\u%04x".formatted((int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }

  private void append(String text) {
    budget.chars(text.length());
    out.append(text);
  }
}
