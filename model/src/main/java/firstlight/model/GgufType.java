package firstlight.model;

/** The types of GGUF metadata values, in the order of their numbers in the file. */
enum GgufType {
  UINT8(1),
  INT8(1),
  UINT16(2),
  INT16(2),
  UINT32(4),
  INT32(4),
  FLOAT32(4),
  BOOL(1),
  STRING(8),
  ARRAY(12),
  UINT64(8),
  INT64(8),
  FLOAT64(8);

  private static final GgufType[] ALL = values();

  private final int bytesMin;

  GgufType(int bytesMin) {
    this.bytesMin = bytesMin;
  }

  /** What a value takes in the file at least; for numbers and flags, exactly. */
  int bytesMin() {
    return bytesMin;
  }

  boolean isInteger() {
    return switch (this) {
      case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64 -> true;
      case FLOAT32, FLOAT64, BOOL, STRING, ARRAY -> false;
    };
  }

  static GgufType read(GgufCursor cursor, String of) {
    long at = cursor.position();
    int number = cursor.int32("the type of " + of);
    if (number < 0 || number >= ALL.length) {
      throw cursor.invalid(
          at,
          "%s is the unknown type of %s; known are 0 to %d"
              .formatted(Integer.toUnsignedString(number), of, ALL.length - 1));
    }
    return ALL[number];
  }
}
