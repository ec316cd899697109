package firstlight.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The key/value part of a model file, copied out of it: it stays usable after the file is closed,
 * changed or gone.
 *
 * <p>Arrays are kept as they stand in the file, and decoded anew by each call.
 */
public final class Metadata {
  private final Path path;
  private final Map<String, Value> values;

  Metadata(Path path, Map<String, Value> values) {
    this.path = path;
    this.values = Collections.unmodifiableMap(values);
  }

  /**
   * @param content Long, Double, Boolean or String
   */
  sealed interface Value {}

  record Scalar(GgufType type, Object content) implements Value {}

  /** An array as it stands in the file, without its type and count. */
  record Array(GgufType elementType, int count, byte[] content) implements Value {}

  /** All keys, in the file's order. */
  public Set<String> keys() {
    return values.keySet();
  }

  public boolean has(String key) {
    return values.containsKey(key);
  }

  /**
   * @throws InvalidModelFile missing, or not a string
   */
  public String string(String key) {
    return findString(key).orElseThrow(() -> missing(key));
  }

  /**
   * @throws InvalidModelFile not a string
   */
  public Optional<String> findString(String key) {
    return find(key).map(value -> content(key, value, String.class, "a string"));
  }

  /**
   * @throws InvalidModelFile missing, or not an integer of any width
   */
  public long integer(String key) {
    return findInteger(key).orElseThrow(() -> missing(key));
  }

  /**
   * @throws InvalidModelFile not an integer of any width
   */
  public OptionalLong findInteger(String key) {
    Optional<Value> value = find(key);
    return value.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(content(key, value.get(), Long.class, "an integer"));
  }

  /**
   * @throws InvalidModelFile missing, or not a floating-point number
   */
  public double number(String key) {
    return findNumber(key).orElseThrow(() -> missing(key));
  }

  /**
   * @throws InvalidModelFile not a floating-point number
   */
  public Optional<Double> findNumber(String key) {
    return find(key).map(value -> content(key, value, Double.class, "a floating-point number"));
  }

  /**
   * @return the flag, or {@code otherwise} where the file does not have it
   * @throws InvalidModelFile not a flag
   */
  public boolean flag(String key, boolean otherwise) {
    return find(key).map(value -> content(key, value, Boolean.class, "a flag")).orElse(otherwise);
  }

  /**
   * An array of strings. Bytes that are not UTF-8 become U+FFFD.
   *
   * @throws InvalidModelFile missing, or not an array of strings
   */
  public List<String> strings(String key) {
    Array array = array(key, GgufType.STRING);
    ByteBuffer in = ByteBuffer.wrap(array.content()).order(ByteOrder.LITTLE_ENDIAN);
    List<String> strings = new ArrayList<>(array.count());
    for (int i = 0; i < array.count(); i++) {
      int length = (int) in.getLong();
      strings.add(new String(array.content(), in.position(), length, StandardCharsets.UTF_8));
      in.position(in.position() + length);
    }
    return Collections.unmodifiableList(strings);
  }

  /**
   * An array of 32-bit floating-point numbers.
   *
   * @throws InvalidModelFile missing, or another array
   */
  public float[] floats(String key) {
    Array array = array(key, GgufType.FLOAT32);
    float[] floats = new float[array.count()];
    ByteBuffer.wrap(array.content()).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
    return floats;
  }

  /**
   * An array of 32-bit integers, signed or not.
   *
   * @throws InvalidModelFile missing, or another array
   */
  public int[] integers(String key) {
    Array array = array(key, GgufType.INT32, GgufType.UINT32);
    int[] integers = new int[array.count()];
    ByteBuffer.wrap(array.content()).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(integers);
    return integers;
  }

  /**
   * Number of elements of an array; empty where the file does not have it.
   *
   * @throws InvalidModelFile not an array
   */
  public OptionalLong count(String key) {
    return switch (values.get(key)) {
      case null -> OptionalLong.empty();
      case Array array -> OptionalLong.of(array.count());
      case Scalar scalar -> throw wrongType(key, scalar, "an array");
    };
  }

  /** An objection to a key's value, for whoever reads it. */
  InvalidModelFile invalid(String key, String reason) {
    return new InvalidModelFile(path, "metadata key " + InvalidModelFile.shown(key) + " " + reason);
  }

  private Array array(String key, GgufType... elementTypes) {
    Value value = find(key).orElseThrow(() -> missing(key));
    if (value instanceof Array array && List.of(elementTypes).contains(array.elementType())) {
      return array;
    }
    throw wrongType(key, value, "an array of " + elementTypes[0]);
  }

  private <T> T content(String key, Value value, Class<T> type, String wanted) {
    if (value instanceof Scalar scalar && type.isInstance(scalar.content())) {
      return type.cast(scalar.content());
    }
    throw wrongType(key, value, wanted);
  }

  private Optional<Value> find(String key) {
    return Optional.ofNullable(values.get(key));
  }

  private InvalidModelFile missing(String key) {
    return invalid(key, "is missing");
  }

  private InvalidModelFile wrongType(String key, Value value, String wanted) {
    String is =
        switch (value) {
          case Scalar scalar -> scalar.type().toString();
          case Array array -> "an array of " + array.elementType();
        };
    return invalid(key, "must be %s, but is %s".formatted(wanted, is));
  }
}
