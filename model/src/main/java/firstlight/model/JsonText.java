package firstlight.model;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes a JSON value, of maps, lists, strings, numbers and booleans, without blanks. */
final class JsonText {
  private JsonText() {}

  static String of(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case Boolean flag -> flag.toString();
      case BigDecimal number -> number.toPlainString();
      case Number number -> number.toString();
      case String text -> "\"" + JsonGrammar.escaped(text) + "\"";
      case List<?> list ->
          list.stream().map(JsonText::of).collect(Collectors.joining(",", "[", "]"));
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(entry -> of(entry.getKey()) + ":" + of(entry.getValue()))
              .collect(Collectors.joining(",", "{", "}"));
      default -> throw new IllegalArgumentException("not JSON: " + value.getClass());
    };
  }
}
