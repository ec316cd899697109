package firstlight.protocol;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One section of the configuration. A module reads its section into a record, names every setting
 * with its default and bounds while doing so, and calls {@link #done()}. Mistakes do not throw:
 * they are noted in {@link #problems()}, a usable value stands in, and all are reported together. A
 * text value may take its content from the environment: {@code ${NAME}} or {@code
 * ${NAME:-default}}.
 */
public final class Settings {
  private static final Pattern VARIABLE =
      Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?}");
  private static final Pattern SPAN = Pattern.compile("(\\d{1,15}) ?(ms|s|m|h|d)");
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15}) ?(B|KiB|MiB|GiB)?");
  private static final String AUTO = "auto";
  private static final String MASK = "********";

  private final String path;
  private final Map<String, Object> values;
  private final Shared shared;
  private final Set<String> known = new TreeSet<>();

  /** What all sections of one configuration have in common. */
  private record Shared(
      Function<String, @Nullable String> environment,
      Problems problems,
      Map<String, String> effective) {}

  private Settings(String path, Map<String, Object> values, Shared shared) {
    this.path = path;
    this.values = values;
    this.shared = shared;
  }

  /**
   * Reads a whole configuration.
   *
   * @param environment looks a variable up; null when it is not set
   * @throws InvalidSettings when the text is not a YAML mapping
   */
  public static Settings parse(String yaml, Function<String, @Nullable String> environment) {
    return of(tree(yaml), environment);
  }

  /** A configuration whose values are already there. */
  public static Settings of(
      Map<String, Object> tree, Function<String, @Nullable String> environment) {
    return new Settings("", tree, new Shared(environment, new Problems(), new TreeMap<>()));
  }

  /**
   * The values of a YAML text as maps, lists and scalars, not yet checked.
   *
   * @throws InvalidSettings when the text is not a YAML mapping
   */
  public static Map<String, Object> tree(String yaml) {
    ObjectMapper mapper = YAMLMapper.builder().build();
    Object tree;
    try {
      tree = yaml.isBlank() ? Map.of() : mapper.readValue(yaml, Object.class);
    } catch (JsonProcessingException e) {
      String line = e.getLocation() == null ? "" : " (line " + e.getLocation().getLineNr() + ")";
      throw new InvalidSettings(List.of("it is not YAML" + line + ": " + e.getOriginalMessage()));
    }
    if (!(tree instanceof Map<?, ?> map)) {
      throw new InvalidSettings(List.of("it must be a mapping of sections"));
    }
    return strings(map);
  }

  /** A configuration in which everything has its default. */
  public static Settings empty() {
    return parse("", _ -> null);
  }

  /** A part of its own; empty when it is not there. */
  public Settings section(String key) {
    known.add(key);
    Object value = values.get(key);
    if (value == null) {
      return new Settings(name(key), Map.of(), shared);
    }
    if (value instanceof Map<?, ?> map) {
      return new Settings(name(key), strings(map), shared);
    }
    problems().add("%s must be a section of settings".formatted(name(key)));
    return new Settings(name(key), Map.of(), shared);
  }

  /** Sections with names of the user's choice, in the order of the file. */
  public Map<String, Settings> named(String key) {
    Settings all = section(key);
    Map<String, Settings> sections = new LinkedHashMap<>();
    all.values.keySet().forEach(child -> sections.put(child, all.section(child)));
    return sections;
  }

  /** A list of sections. */
  public List<Settings> sections(String key) {
    known.add(key);
    List<Settings> sections = new ArrayList<>();
    for (Object entry : entries(key)) {
      String child = "%s[%d]".formatted(name(key), sections.size());
      if (entry instanceof Map<?, ?> map) {
        sections.add(new Settings(child, strings(map), shared));
      } else {
        problems().add(child + " must be a section of settings");
      }
    }
    return sections;
  }

  public boolean has(String key) {
    return values.get(key) != null;
  }

  public String text(String key, String fallback) {
    return note(key, has(key) ? expand(key, String.valueOf(values.get(key))) : fallback);
  }

  /** A text that has no default. */
  public String requiredText(String key) {
    if (!has(key)) {
      problems().add("%s is missing".formatted(name(key)));
    }
    return text(key, "");
  }

  /** A text that is never printed. */
  public String secret(String key, String fallback) {
    String value = text(key, fallback);
    shared.effective.put(name(key), value.isEmpty() ? "" : MASK);
    return value;
  }

  public List<String> texts(String key, List<String> fallback) {
    known.add(key);
    List<String> texts =
        has(key)
            ? entries(key).stream().map(entry -> expand(key, String.valueOf(entry))).toList()
            : fallback;
    return note(key, texts);
  }

  public boolean flag(String key, boolean fallback) {
    return parsed(key, fallback, "true or false", Settings::bool);
  }

  public int integer(String key, int fallback, int min, int max) {
    return (int) whole(key, fallback, min, max);
  }

  /**
   * A whole number that whoever reads it can find out: empty where it is {@code auto}, or not
   * there.
   */
  public OptionalInt integerOrAuto(String key, int min, int max) {
    String expected = "auto or a whole number from %d to %d".formatted(min, max);
    String word =
        parsed(
            key,
            AUTO,
            expected,
            text ->
                text.equals(AUTO) || within(Long.parseLong(text), min, max) != null ? text : null);
    return word.equals(AUTO) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(word));
  }

  public long whole(String key, long fallback, long min, long max) {
    String expected = "a whole number from %d to %d".formatted(min, max);
    return parsed(key, fallback, expected, text -> within(Long.parseLong(text), min, max));
  }

  public double number(String key, double fallback, double min, double max) {
    String expected = "a number from %s to %s".formatted(min, max);
    return parsed(
        key,
        fallback,
        expected,
        text -> {
          double value = Double.parseDouble(text);
          return value >= min && value <= max ? value : null;
        });
  }

  /** A span of time with its unit: 250ms, 5s, 2m, 1h, 30d. */
  public Duration duration(String key, Duration fallback) {
    return parsed(key, fallback, "a time with its unit, such as 250ms, 5s or 2m", Settings::span);
  }

  /** A size with its unit: 512, 64KiB, 16MiB, 2GiB. */
  public long bytes(String key, long fallback) {
    return parsed(key, fallback, "a size such as 64KiB, 16MiB or 2GiB", Settings::size);
  }

  public <E extends Enum<E>> E choice(String key, E fallback) {
    E[] all = fallback.getDeclaringClass().getEnumConstants();
    List<String> names = java.util.Arrays.stream(all).map(Settings::word).toList();
    return parsed(
        key,
        fallback,
        "one of " + String.join(", ", names),
        text -> names.contains(text) ? all[names.indexOf(text)] : null);
  }

  /** Everything has been read: whatever else stands in the section is a mistake. */
  public void done() {
    for (String key : values.keySet()) {
      if (!known.contains(key)) {
        String near = Spelling.nearest(key, known);
        problems()
            .add(
                "%s is not a setting%s"
                    .formatted(
                        name(key), near.isEmpty() ? "" : "; did you mean " + name(near) + "?"));
      }
    }
  }

  public Problems problems() {
    return shared.problems;
  }

  /**
   * What was read so far, defaults included and secrets masked: one {@code name = value} a line.
   */
  public List<String> effective() {
    return shared.effective.entrySet().stream()
        .map(entry -> entry.getKey() + " = " + entry.getValue())
        .toList();
  }

  private <T> T parsed(
      String key, T fallback, String expected, Function<String, @Nullable T> parser) {
    if (!has(key)) {
      return note(key, fallback);
    }
    String text = expand(key, String.valueOf(values.get(key)));
    @Nullable T value;
    try {
      value = parser.apply(text.trim());
    } catch (NumberFormatException e) {
      value = null;
    }
    if (value == null) {
      problems().add("%s must be %s, not \"%s\"".formatted(name(key), expected, text));
      return note(key, fallback);
    }
    return note(key, value);
  }

  private <T> T note(String key, T value) {
    known.add(key);
    shared.effective.put(
        name(key), value instanceof Enum<?> choice ? word(choice) : String.valueOf(value));
    return value;
  }

  private String expand(String key, String text) {
    Matcher matcher = VARIABLE.matcher(text);
    StringBuilder expanded = new StringBuilder();
    while (matcher.find()) {
      String value = shared.environment.apply(matcher.group(1));
      if (value == null) {
        value = matcher.group(2);
      }
      if (value == null) {
        problems()
            .add("%s needs the environment variable %s".formatted(name(key), matcher.group(1)));
        value = "";
      }
      matcher.appendReplacement(expanded, Matcher.quoteReplacement(value));
    }
    return matcher.appendTail(expanded).toString();
  }

  private List<?> entries(String key) {
    Object value = values.get(key);
    if (value == null) {
      return List.of();
    }
    if (value instanceof List<?> list) {
      return list;
    }
    problems().add("%s must be a list".formatted(name(key)));
    return List.of();
  }

  private String name(String key) {
    return path.isEmpty() ? key : path + "." + key;
  }

  private static Map<String, Object> strings(Map<?, ?> map) {
    Map<String, Object> strings = new LinkedHashMap<>();
    map.forEach((key, value) -> strings.put(String.valueOf(key), value));
    return strings;
  }

  private static @Nullable Boolean bool(String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> null;
    };
  }

  private static @Nullable Long within(long value, long min, long max) {
    return value >= min && value <= max ? value : null;
  }

  private static @Nullable Duration span(String text) {
    Matcher matcher = SPAN.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    long amount = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> amount > 100_000 ? null : Duration.ofDays(amount);
    };
  }

  private static @Nullable Long size(String text) {
    Matcher matcher = SIZE.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    int shift =
        switch (String.valueOf(matcher.group(2))) {
          case "KiB" -> 10;
          case "MiB" -> 20;
          case "GiB" -> 30;
          default -> 0;
        };
    long amount = Long.parseLong(matcher.group(1));
    return amount > Long.MAX_VALUE >> shift ? null : amount << shift;
  }

  private static String word(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
