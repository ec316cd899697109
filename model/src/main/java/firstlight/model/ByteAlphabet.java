package firstlight.model;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The alphabet in which byte-level vocabularies are written: a printable character for each byte.
 * Printable Latin-1 stands for itself, the other bytes take the characters from U+0100 on.
 */
final class ByteAlphabet {
  private static final char[] CHARS = new char[256];
  private static final int[] BYTES = new int[512];

  static {
    Arrays.fill(BYTES, -1);
    char other = 256;
    for (int b = 0; b < 256; b++) {
      CHARS[b] = isPrintable(b) ? (char) b : other++;
      BYTES[CHARS[b]] = b;
    }
  }

  private ByteAlphabet() {}

  private static boolean isPrintable(int b) {
    return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xFF && b != 0xAD);
  }

  static char charOf(int unsignedByte) {
    return CHARS[unsignedByte];
  }

  /**
   * The bytes that a token's text stands for; its UTF-8 where it is not written in the alphabet.
   */
  static byte[] bytes(String text) {
    byte[] bytes = new byte[text.length()];
    for (int i = 0; i < bytes.length; i++) {
      char c = text.charAt(i);
      if (c >= BYTES.length || BYTES[c] < 0) {
        return text.getBytes(StandardCharsets.UTF_8);
      }
      bytes[i] = (byte) BYTES[c];
    }
    return bytes;
  }
}
