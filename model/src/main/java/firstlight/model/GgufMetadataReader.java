package firstlight.model;

import java.util.LinkedHashMap;
import java.util.Map;

/** Reads the metadata of a GGUF file: its number of keys, then keys, types and values. */
final class GgufMetadataReader {
  static final int KEYS_MAX = 1 << 16;
  static final int KEY_BYTES_MAX = (1 << 16) - 1;
  static final int NESTING_MAX = 4;
  // Ten times the largest vocabulary known; what is kept in memory is about what is in the file.
  static final int METADATA_BYTES_MAX = 1 << 27;
  // A length is all that is there for certain; a senseless one gets its own message.
  private static final int KEY_VALUE_BYTES_MIN = 8;

  private final GgufCursor in;
  private final long limit;

  GgufMetadataReader(GgufCursor in) {
    this.in = in;
    this.limit = in.position() + METADATA_BYTES_MAX;
  }

  Metadata read() {
    int keys = (int) in.count("the number of metadata keys", KEYS_MAX, KEY_VALUE_BYTES_MIN);
    Map<String, Metadata.Value> values = new LinkedHashMap<>();
    for (int i = 0; i < keys; i++) {
      long at = in.position();
      String key = in.name("a metadata key", KEY_BYTES_MAX);
      String of = "metadata key " + InvalidModelFile.shown(key);
      if (values.putIfAbsent(key, value(of)) != null) {
        throw in.invalid(at, of + " is there twice");
      }
    }
    return new Metadata(in.path(), values);
  }

  private Metadata.Value value(String of) {
    GgufType type = GgufType.read(in, of);
    return type == GgufType.ARRAY ? array(of) : new Metadata.Scalar(type, scalar(type, of));
  }

  private Object scalar(GgufType type, String of) {
    return switch (type) {
      case UINT8 -> (long) Byte.toUnsignedInt(in.int8(of));
      case INT8 -> (long) in.int8(of);
      case UINT16 -> (long) Short.toUnsignedInt(in.int16(of));
      case INT16 -> (long) in.int16(of);
      case UINT32 -> Integer.toUnsignedLong(in.int32(of));
      case INT32 -> (long) in.int32(of);
      case FLOAT32 -> (double) Float.intBitsToFloat(in.int32(of));
      case BOOL -> flag(of);
      case STRING -> string(of);
      case UINT64 -> unsigned(of);
      case INT64 -> in.int64(of);
      case FLOAT64 -> Double.longBitsToDouble(in.int64(of));
      case ARRAY -> throw new AssertionError("an array is no scalar");
    };
  }

  private boolean flag(String of) {
    long at = in.position();
    int flag = in.int8(of);
    if (flag != 0 && flag != 1) {
      throw in.invalid(at, "%s is a flag, but has the value %d".formatted(of, flag & 0xFF));
    }
    return flag == 1;
  }

  private long unsigned(String of) {
    long at = in.position();
    long number = in.int64(of);
    if (number < 0) {
      throw in.invalid(at, "%s is %s, too large".formatted(of, Long.toUnsignedString(number)));
    }
    return number;
  }

  private String string(String of) {
    int length = (int) in.count("the length of " + of, within(), 1);
    return in.text(length, of);
  }

  private Metadata.Array array(String of) {
    GgufType type = GgufType.read(in, "the elements of " + of);
    int count = elements(type, of);
    long start = in.position();
    skipElements(type, count, of, 1);
    return new Metadata.Array(type, count, in.since(start));
  }

  private int elements(GgufType type, String of) {
    return (int)
        in.count("the number of elements of " + of, within() / type.bytesMin(), type.bytesMin());
  }

  private void skipElements(GgufType type, int count, String of, int depth) {
    switch (type) {
      case STRING -> {
        for (int i = 0; i < count; i++) {
          in.skip(in.count("the length of a string in " + of, within(), 1), of);
        }
      }
      case ARRAY -> {
        if (depth == NESTING_MAX) {
          throw in.invalid(
              in.position(), "%s has arrays more than %d deep".formatted(of, NESTING_MAX));
        }
        for (int i = 0; i < count; i++) {
          GgufType inner = GgufType.read(in, "the elements of " + of);
          skipElements(inner, elements(inner, of), of, depth + 1);
        }
      }
      default -> in.skip((long) count * type.bytesMin(), of);
    }
  }

  /** Bytes that metadata may still take. */
  private long within() {
    return Math.max(0, limit - in.position());
  }
}
