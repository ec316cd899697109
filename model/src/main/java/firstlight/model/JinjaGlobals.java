package firstlight.model;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The functions that every template may call. */
final class JinjaGlobals {
  static final Set<String> NAMES =
      Set.of("range", "namespace", "dict", "raise_exception", "strftime_now");

  private static final int FORMAT_MAX = 1000;

  private JinjaGlobals() {}

  static JinjaScope scope(Instant now, JinjaBudget budget) {
    JinjaScope scope = new JinjaScope(null);
    scope.set("range", (JinjaFunction) arguments -> range(arguments, budget));
    scope.set("namespace", (JinjaFunction) JinjaGlobals::namespace);
    scope.set("dict", (JinjaFunction) arguments -> new LinkedHashMap<>(arguments.named()));
    scope.set("raise_exception", (JinjaFunction) JinjaGlobals::refuse);
    scope.set(
        "strftime_now", (JinjaFunction) arguments -> formatted(now, arguments.text(0, "format")));
    return scope;
  }

  private static @Nullable Object refuse(JinjaArguments arguments) {
    throw TemplateException.refusal(arguments.text(0, "message"));
  }

  private static Object namespace(JinjaArguments arguments) {
    JinjaNamespace namespace = new JinjaNamespace();
    namespace.values().putAll(arguments.named());
    return namespace;
  }

  private static List<Object> range(JinjaArguments arguments, JinjaBudget budget) {
    boolean one = arguments.positional().size() == 1;
    long from = one ? 0 : arguments.integer(0, "start", 0);
    long to = arguments.integer(one ? 0 : 1, "stop", 0);
    long step = arguments.integer(2, "step", 1);
    if (step == 0) {
      throw JinjaValues.failure("a range has the step 0");
    }
    budget.steps(Math.max(0, (to - from) / step));
    List<Object> numbers = new ArrayList<>();
    for (long i = from; step > 0 ? i < to : i > to; i += step) {
      numbers.add(i);
    }
    return numbers;
  }

  /** The date as C's strftime writes it, in universal time and English. */
  static String formatted(Instant now, String format) {
    if (format.length() > FORMAT_MAX) {
      throw JinjaValues.failure("a date format is too long");
    }
    ZonedDateTime time = now.atZone(ZoneOffset.UTC);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      if (c == '%' && i + 1 < format.length()) {
        text.append(field(time, format.charAt(++i)));
      } else {
        text.append(c);
      }
    }
    return text.toString();
  }

  private static String field(ZonedDateTime time, char name) {
    String pattern =
        switch (name) {
          case 'Y' -> "uuuu";
          case 'y' -> "uu";
          case 'm' -> "MM";
          case 'd' -> "dd";
          case 'b' -> "MMM";
          case 'B' -> "MMMM";
          case 'a' -> "EEE";
          case 'A' -> "EEEE";
          case 'H' -> "HH";
          case 'I' -> "hh";
          case 'M' -> "mm";
          case 'S' -> "ss";
          case 'p' -> "a";
          case 'j' -> "DDD";
          case '%' -> "'%'";
          default -> throw JinjaValues.failure("the date field %" + name + " is not supported");
        };
    return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time);
  }
}
