package firstlight.model;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes values as Python prints them. */
final class JinjaPrinter {
  private final StringBuilder out = new StringBuilder();
  private final JinjaBudget budget;

  private JinjaPrinter(JinjaBudget budget) {
    this.budget = budget;
  }

  /** A text as it is, anything else as Python's str() has it. */
  static String text(@Nullable Object value, JinjaBudget budget) {
    if (value instanceof String text) {
      return text;
    }
    if (value instanceof JinjaUndefined) {
      return "";
    }
    JinjaPrinter printer = new JinjaPrinter(budget);
    printer.write(value, 0);
    return printer.out.toString();
  }

  private void write(@Nullable Object value, int depth) {
    if (depth > JinjaValues.DEPTH_MAX) {
      throw JinjaValues.failure("a value is nested too deeply to be printed");
    }
    budget.steps(1);
    switch (value) {
      case null -> append("None");
      case Boolean flag -> append(flag ? "True" : "False");
      case Long number -> append(number.toString());
      case Double number -> append(number(number));
      case String text -> quote(text);
      case List<?> list -> {
        append("[");
        for (int i = 0; i < list.size(); i++) {
          append(i == 0 ? "" : ", ");
          write(list.get(i), depth + 1);
        }
        append("]");
      }
      case Map<?, ?> map -> writeMap(map, depth);
      case JinjaUndefined _ -> append("Undefined");
      case JinjaNamespace _ -> append("<Namespace>");
      default -> append("<function>");
    }
  }

  private void writeMap(Map<?, ?> map, int depth) {
    append("{");
    String separator = "";
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      append(separator);
      write(entry.getKey(), depth + 1);
      append(": ");
      write(entry.getValue(), depth + 1);
      separator = ", ";
    }
    append("}");
  }

  private void quote(String text) {
    char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
    budget.chars(text.length());
    out.append(quote);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\\' -> out.append("\\\\");
        default -> {
          if (c == quote) {
            out.append('\\').append(c);
          } else if (c < ' ' || c == 0x7F) {
            out.append("\\x%02x".formatted((int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append(quote);
  }

  private void append(String text) {
    budget.chars(text.length());
    out.append(text);
  }

  /** As Python's repr(). */
  static String number(double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
    }
    double size = Math.abs(value);
    BigDecimal decimal = new BigDecimal(Double.toString(value));
    if (size == 0 || (size >= 1e-4 && size < 1e16)) {
      String plain = decimal.stripTrailingZeros().toPlainString();
      String signed = size == 0 && 1 / value < 0 ? "-0" : plain;
      return signed.indexOf('.') < 0 ? signed + ".0" : signed;
    }
    BigDecimal shortest = decimal.stripTrailingZeros();
    int exponent = shortest.precision() - shortest.scale() - 1;
    String digits = shortest.scaleByPowerOfTen(-exponent).toPlainString();
    return "%se%s%02d".formatted(digits, exponent < 0 ? "-" : "+", Math.abs(exponent));
  }
}
