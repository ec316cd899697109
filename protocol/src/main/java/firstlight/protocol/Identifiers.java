package firstlight.protocol;

/** The one rule for ids: short, printable, and safe in a path, a header and a log line. */
final class Identifiers {
  static final int LENGTH_MAX = 128;

  private Identifiers() {}

  static void check(String kind, String value) {
    if (value.isEmpty()
        || value.length() > LENGTH_MAX
        || !value.chars().allMatch(Identifiers::safe)) {
      throw new IllegalArgumentException(
          "%s must be 1 to %d letters, digits or any of . _ - :".formatted(kind, LENGTH_MAX));
    }
  }

  private static boolean safe(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '.'
        || c == '_'
        || c == '-'
        || c == ':';
  }
}
