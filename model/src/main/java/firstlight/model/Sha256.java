package firstlight.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of files and texts, in hexadecimal. */
final class Sha256 {
  private static final int CHUNK_BYTES = 1 << 20;

  private Sha256() {}

  static String of(Path file, ModelStore.Progress progress) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return of(channel, progress);
    }
  }

  /** Reads the channel from its beginning to its end, wherever it stands. */
  static String of(FileChannel channel, ModelStore.Progress progress) throws IOException {
    MessageDigest sha256 = digest();
    ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
    long size = channel.size();
    long position = 0;
    while (channel.read(chunk.clear(), position) >= 0) {
      position += chunk.position();
      sha256.update(chunk.flip());
      progress.report("checking", position, size);
    }
    return HexFormat.of().formatHex(sha256.digest());
  }

  static String of(String text) {
    return HexFormat.of().formatHex(digest().digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
