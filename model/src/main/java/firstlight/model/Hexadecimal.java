package firstlight.model;

import java.util.HexFormat;

/** Characters that are written as hexadecimal numbers. */
final class Hexadecimal {
  private Hexadecimal() {}

  /** The character that the digits from there on name; -1: there are too few, or none has it. */
  static int character(String source, int from, int digits) {
    try {
      int value = HexFormat.fromHexDigits(source, from, from + digits);
      return digits > 0 && Character.isValidCodePoint(value) ? value : -1;
    } catch (IllegalArgumentException | IndexOutOfBoundsException _) {
      return -1;
    }
  }
}
