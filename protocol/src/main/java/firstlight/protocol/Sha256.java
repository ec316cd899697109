package firstlight.protocol;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256, as every JDK has it. */
public final class Sha256 {
  private Sha256() {}

  /** A digest to be fed. */
  public static MessageDigest begin() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }

  /** In hexadecimal, of the text's UTF-8. */
  public static String hex(String text) {
    return hex(text.getBytes(StandardCharsets.UTF_8));
  }

  /** In hexadecimal. */
  public static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(begin().digest(bytes));
  }
}
