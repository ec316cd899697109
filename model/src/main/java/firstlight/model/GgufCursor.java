package firstlight.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Reads the head of a GGUF file from front to back. Every read is checked against the file's end
 * before anything is allocated for it.
 *
 * <p>It reads through the channel, not through the mapping: a file that gets shorter meanwhile is
 * then an ordinary refusal, not a fault of memory.
 */
final class GgufCursor {
  private static final int WINDOW_BYTES = 1 << 16;

  private final Path path;
  private final FileChannel channel;
  private final long size;
  private final ByteBuffer window =
      ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
  private long windowStart;
  private long position;

  GgufCursor(Path path, FileChannel channel, long size) {
    this.path = path;
    this.channel = channel;
    this.size = size;
  }

  Path path() {
    return path;
  }

  /** Bytes of the whole file. */
  long size() {
    return size;
  }

  long position() {
    return position;
  }

  long remaining() {
    return size - position;
  }

  InvalidModelFile invalid(long offset, String reason) {
    return new InvalidModelFile(path, offset, reason);
  }

  byte int8(String what) {
    return window.get(take(Byte.BYTES, what));
  }

  short int16(String what) {
    return window.getShort(take(Short.BYTES, what));
  }

  int int32(String what) {
    return window.getInt(take(Integer.BYTES, what));
  }

  long int64(String what) {
    return window.getLong(take(Long.BYTES, what));
  }

  /** A length or count: at most what the rest of the file can hold, each taking so many bytes. */
  long count(String what, long max, int bytesEach) {
    long at = position;
    long count = int64(what);
    long fit = Math.min(max, remaining() / bytesEach);
    if (count < 0 || count > fit) {
      String reason =
          count >= 0 && count <= remaining() / bytesEach
              ? "; at most %d are allowed".formatted(max)
              : ", more than the remaining %d bytes of the file can hold".formatted(remaining());
      throw invalid(at, what + " is " + Long.toUnsignedString(count) + reason);
    }
    return count;
  }

  void skip(long bytes, String what) {
    need(bytes, what);
    position += bytes;
  }

  byte[] bytes(int count, String what) {
    need(count, what);
    byte[] bytes = new byte[count];
    readFully(ByteBuffer.wrap(bytes), position);
    position += count;
    return bytes;
  }

  /** Text of so many bytes; what is not UTF-8 becomes U+FFFD. */
  String text(int bytes, String what) {
    return new String(bytes(bytes, what), StandardCharsets.UTF_8);
  }

  /** A name with its length before it, of at least one byte. */
  String name(String what, int bytesMax) {
    long at = position;
    int length = (int) count("the length of " + what, bytesMax, 1);
    if (length == 0) {
      throw invalid(at, what + " is empty");
    }
    return text(length, what);
  }

  /** What lies between an earlier position and this one, once more. */
  byte[] since(long start) {
    byte[] bytes = new byte[Math.toIntExact(position - start)];
    readFully(ByteBuffer.wrap(bytes), start);
    return bytes;
  }

  private int take(int bytes, String what) {
    need(bytes, what);
    if (position < windowStart || position + bytes > windowStart + window.limit()) {
      window.clear().limit((int) Math.min(WINDOW_BYTES, remaining()));
      windowStart = position;
      readFully(window, position);
      window.flip();
    }
    int index = (int) (position - windowStart);
    position += bytes;
    return index;
  }

  private void need(long bytes, String what) {
    if (bytes < 0 || bytes > remaining()) {
      throw invalid(
          position,
          "%s needs %s bytes, but the file ends at byte %d"
              .formatted(what, Long.toUnsignedString(bytes), size));
    }
  }

  private void readFully(ByteBuffer into, long from) {
    try {
      while (into.hasRemaining()) {
        int got = channel.read(into, from + into.position());
        if (got < 0) {
          throw invalid(from + into.position(), "the file was cut short while it was read");
        }
      }
    } catch (IOException e) {
      throw invalid(from, "it cannot be read (" + e.getMessage() + ")");
    }
  }
}
