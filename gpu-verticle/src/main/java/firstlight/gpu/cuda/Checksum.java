package firstlight.gpu.cuda;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256. */
final class Checksum {
  static final int BYTES = 32;

  private Checksum() {}

  static MessageDigest begin() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has it", e);
    }
  }

  static byte[] of(byte[] content) {
    return begin().digest(content);
  }

  static String hexadecimal(byte[] content) {
    return HexFormat.of().formatHex(of(content));
  }
}
