package firstlight.gpu;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What was found: lines for whoever looks on, and a tree that becomes one JSON file. */
final class CheckReport {
  private final Map<String, Object> root = new LinkedHashMap<>();
  private final Map<String, List<Map<String, Object>>> sections = new LinkedHashMap<>();
  private final PrintStream out;

  CheckReport(PrintStream out) {
    this.out = out;
  }

  /** Names and values in turn; those without a value are left out. */
  static Map<String, Object> row(@Nullable Object... namesAndValues) {
    Map<String, Object> row = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      Object value = namesAndValues[i + 1];
      if (value != null) {
        row.put(String.valueOf(namesAndValues[i]), value);
      }
    }
    return row;
  }

  void say(String format, Object... values) {
    out.printf(Locale.ROOT, format + "%n", values);
  }

  /** A value of the whole. */
  void put(String name, Object value) {
    root.put(name, value);
  }

  /** A row of a section, which may have none. */
  void add(String section, Map<String, Object> row) {
    rows(section).add(row);
  }

  /** Names a measurement that was not made. */
  void leaveOut(String section, String why) {
    add("leftOut", row("section", section, "why", why));
    say("  left out: %s", why);
  }

  /** For the end of a line; nothing where the limit was not measured. */
  static String percent(@Nullable Double share) {
    return share == null ? "" : String.format(Locale.ROOT, ", %.1f %% of the copy", 100 * share);
  }

  List<Map<String, Object>> rows(String section) {
    return sections.computeIfAbsent(
        section,
        name -> {
          List<Map<String, Object>> rows = new ArrayList<>();
          root.put(name, rows);
          return rows;
        });
  }

  void write(Path file) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator generator = new JsonFactory().createGenerator(text)) {
      generator.setPrettyPrinter(new DefaultPrettyPrinter());
      write(generator, root);
    }
    Files.writeString(file, text + "\n");
  }

  private static void write(JsonGenerator to, Object value) throws IOException {
    switch (value) {
      case Map<?, ?> map -> {
        to.writeStartObject();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          to.writeFieldName(String.valueOf(entry.getKey()));
          write(to, entry.getValue());
        }
        to.writeEndObject();
      }
      case List<?> list -> {
        to.writeStartArray();
        for (Object each : list) {
          write(to, each);
        }
        to.writeEndArray();
      }
      case Boolean flag -> to.writeBoolean(flag);
      case Integer number -> to.writeNumber(number);
      case Long number -> to.writeNumber(number);
      case Double number when Double.isFinite(number) -> to.writeNumber(rounded(number));
      default -> to.writeString(value.toString());
    }
  }

  /** Five digits are more than any measurement has. */
  private static double rounded(double number) {
    return Double.parseDouble(String.format(Locale.ROOT, "%.4e", number));
  }
}
