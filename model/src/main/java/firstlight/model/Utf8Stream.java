package firstlight.model;

/**
 * Puts characters together from bytes that arrive in any portions: gives out whole characters only,
 * never half a character or half of a surrogate pair. What cannot be UTF-8 becomes U+FFFD, one for
 * each longest part that could have begun a character, as the Unicode standard recommends. Not
 * thread-safe.
 */
public final class Utf8Stream {
  private static final char REPLACEMENT = '\uFFFD';

  private int needed;
  private int codePoint;
  // The bounds of the next byte: narrower than 80..BF after some first bytes.
  private int low;
  private int high;

  /** Takes the next bytes; gives the characters that are whole now, possibly none. */
  public String feed(byte[] bytes) {
    StringBuilder text = new StringBuilder(bytes.length);
    for (byte b : bytes) {
      feed(b & 0xFF, text);
    }
    return text.toString();
  }

  /**
   * Ends the text; gives U+FFFD if a character is incomplete, else nothing. Ready for a new text.
   */
  public String flush() {
    String rest = needed > 0 ? String.valueOf(REPLACEMENT) : "";
    needed = 0;
    return rest;
  }

  /** Whether bytes of an incomplete character are held back. */
  public boolean isPending() {
    return needed > 0;
  }

  private void feed(int b, StringBuilder text) {
    if (needed == 0) {
      begin(b, text);
    } else if (b < low || b > high) {
      needed = 0;
      text.append(REPLACEMENT);
      begin(b, text);
    } else {
      codePoint = (codePoint << 6) | (b & 0x3F);
      low = 0x80;
      high = 0xBF;
      if (--needed == 0) {
        text.appendCodePoint(codePoint);
      }
    }
  }

  private void begin(int b, StringBuilder text) {
    low = 0x80;
    high = 0xBF;
    if (b < 0x80) {
      text.append((char) b);
    } else if (b >= 0xC2 && b <= 0xDF) {
      expect(1, b & 0x1F);
    } else if (b >= 0xE0 && b <= 0xEF) {
      expect(2, b & 0x0F);
      // No overlong form, no surrogates.
      low = b == 0xE0 ? 0xA0 : 0x80;
      high = b == 0xED ? 0x9F : 0xBF;
    } else if (b >= 0xF0 && b <= 0xF4) {
      expect(3, b & 0x07);
      // No overlong form, nothing above U+10FFFF.
      low = b == 0xF0 ? 0x90 : 0x80;
      high = b == 0xF4 ? 0x8F : 0xBF;
    } else {
      text.append(REPLACEMENT);
    }
  }

  private void expect(int more, int bits) {
    needed = more;
    codePoint = bits;
  }
}
