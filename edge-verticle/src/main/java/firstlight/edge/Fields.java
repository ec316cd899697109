package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The fields of one JSON object, read by name and type. A field that is null counts as missing; one
 * of another type or outside its range is refused with a {@link MeshException} that names it by its
 * full path. Nothing is coerced: "5" is not a number, and true is not 1.
 *
 * <p>It remembers what was asked for, so that the rest can be told to the client: see {@link
 * #unread}.
 */
final class Fields {
  private final ObjectNode object;
  private final String path;
  private final Set<String> read = new HashSet<>();
  private final List<Fields> parts = new ArrayList<>();

  /** The fields of a whole body. */
  Fields(ObjectNode object) {
    this(object, "");
  }

  private Fields(ObjectNode object, String path) {
    this.object = object;
    this.path = path;
  }

  /** Whether the field is there and not null. */
  boolean has(String name) {
    read.add(name);
    return object.hasNonNull(name);
  }

  /** The field as it is, of any type; empty when missing. */
  Optional<JsonNode> any(String name) {
    return has(name) ? Optional.of(object.get(name)) : Optional.empty();
  }

  Optional<String> text(String name) {
    return any(name)
        .map(
            value -> {
              require(value.isTextual(), name, "must be a string");
              return value.textValue();
            });
  }

  String requiredText(String name) {
    return text(name).orElseThrow(() -> missing(name));
  }

  /** A string of at most so many characters. */
  Optional<String> text(String name, int charactersMax) {
    Optional<String> text = text(name);
    require(
        text.isEmpty() || text.get().length() <= charactersMax,
        name,
        "must have at most %d characters".formatted(charactersMax));
    return text;
  }

  Optional<Boolean> flag(String name) {
    return any(name)
        .map(
            value -> {
              require(value.isBoolean(), name, "must be true or false");
              return value.booleanValue();
            });
  }

  boolean flag(String name, boolean fallback) {
    return flag(name).orElse(fallback);
  }

  /** A whole number in the range, both ends included; 5.0 and 1e3 are not whole numbers. */
  OptionalInt integer(String name, int min, int max) {
    Optional<JsonNode> value = any(name);
    if (value.isEmpty()) {
      return OptionalInt.empty();
    }
    return OptionalInt.of((int) whole(value.get(), name, min, max));
  }

  /** Any 64-bit whole number. */
  Optional<Long> whole(String name) {
    return any(name).map(value -> whole(value, name, Long.MIN_VALUE, Long.MAX_VALUE));
  }

  /** A finite number in the range, both ends included. */
  OptionalDouble number(String name, double min, double max) {
    Optional<JsonNode> value = any(name);
    if (value.isEmpty()) {
      return OptionalDouble.empty();
    }
    require(value.get().isNumber(), name, "must be a number");
    double number = value.get().doubleValue();
    require(
        number >= min && number <= max,
        name,
        "must be between %s and %s".formatted(plain(min), plain(max)));
    return OptionalDouble.of(number);
  }

  Optional<Fields> object(String name) {
    return any(name)
        .map(
            value -> {
              Fields part = fields(value, param(name));
              parts.add(part);
              return part;
            });
  }

  /** A list of at most so many elements, of any types. */
  Optional<ArrayNode> array(String name, int max) {
    return any(name)
        .map(
            value -> {
              require(value.isArray(), name, "must be a list");
              require(value.size() <= max, name, "must have at most %d elements".formatted(max));
              return (ArrayNode) value;
            });
  }

  /** A list of objects; empty when it is missing. */
  List<Fields> objects(String name, int max) {
    List<Fields> objects = new ArrayList<>();
    array(name, max)
        .ifPresent(
            array -> {
              for (int i = 0; i < array.size(); i++) {
                objects.add(fields(array.get(i), "%s[%d]".formatted(param(name), i)));
              }
            });
    return objects;
  }

  /** A list of strings; empty when it is missing. */
  List<String> texts(String name, int max) {
    List<String> texts = new ArrayList<>();
    array(name, max)
        .ifPresent(
            array ->
                array.forEach(
                    element -> {
                      require(element.isTextual(), name, "must be a list of strings");
                      texts.add(element.textValue());
                    }));
    return texts;
  }

  /** The full path of one of its fields, for messages. */
  String param(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /** Its own path; empty for the body. */
  String path() {
    return path;
  }

  ObjectNode node() {
    return object;
  }

  /** Refuses the request unless the condition holds: "{path} {message}." */
  void require(boolean holds, String name, String message) {
    if (!holds) {
      throw refused(name, message);
    }
  }

  MeshException refused(String name, String message) {
    return MeshException.invalid("%s %s.".formatted(param(name), message), param(name));
  }

  MeshException missing(String name) {
    return refused(name, "is missing");
  }

  /** Full paths of the fields nobody asked for, here and in its {@link #object} parts. */
  List<String> unread() {
    List<String> unread = new ArrayList<>();
    for (String name : (Iterable<String>) object::fieldNames) {
      if (!read.contains(name)) {
        unread.add(param(name));
      }
    }
    parts.forEach(part -> unread.addAll(part.unread()));
    return unread;
  }

  private static Fields fields(JsonNode value, String path) {
    if (!(value instanceof ObjectNode object)) {
      throw MeshException.invalid("%s must be an object.".formatted(path), path);
    }
    return new Fields(object, path);
  }

  private long whole(JsonNode value, String name, long min, long max) {
    require(value.isIntegralNumber(), name, "must be a whole number");
    require(
        value.canConvertToLong() && value.longValue() >= min && value.longValue() <= max,
        name,
        "must be between %d and %d".formatted(min, max));
    return value.longValue();
  }

  private static String plain(double number) {
    return number == Math.rint(number) && Math.abs(number) < 1e15
        ? String.valueOf((long) number)
        : String.valueOf(number);
  }
}
