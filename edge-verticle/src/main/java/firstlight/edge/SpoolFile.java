package firstlight.edge;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Reads the frames of one file of the spool, mostly one after the other. Blocks. */
final class SpoolFile implements Closeable {
  private static final int WINDOW_BYTES = 256 << 10;

  private final SpoolLane lane;
  private final long number;
  private final FileChannel channel;
  // Never beyond what may be read: what is behind that may still change.
  private ByteBuffer window = ByteBuffer.allocate(0);
  private long windowAt;

  /**
   * A frame's body.
   *
   * @param at where the frame begins
   * @param end where the next one begins
   */
  record Frame(long at, long end, ByteBuffer body) {
    byte[] bytes() {
      byte[] bytes = new byte[body.remaining()];
      body.duplicate().get(bytes);
      return bytes;
    }
  }

  private SpoolFile(SpoolLane lane, long number, FileChannel channel) {
    this.lane = lane;
    this.number = number;
    this.channel = channel;
  }

  static SpoolFile open(SpoolLane lane, long number, Path path) throws IOException {
    return new SpoolFile(lane, number, FileChannel.open(path, StandardOpenOption.READ));
  }

  long number() {
    return number;
  }

  /**
   * The first whole frame at or behind an offset; null: there is none.
   *
   * @param limit nothing from there on is read
   */
  @Nullable Frame next(long offset, long limit) throws IOException {
    for (long at = offset; at + SpoolFrame.HEADER_BYTES <= limit; at++) {
      Frame frame = at(at, limit);
      if (frame != null) {
        return frame;
      }
    }
    return null;
  }

  /** The frame at that place; null: it is damaged, or there is none. */
  @Nullable Frame at(long offset, long limit) throws IOException {
    if (offset + SpoolFrame.HEADER_BYTES > limit || !has(offset, SpoolFrame.HEADER_BYTES, limit)) {
      return null;
    }
    int length = SpoolFrame.length(window, lane);
    long end = offset + SpoolFrame.HEADER_BYTES + length;
    if (length < 0 || end > limit || !has(offset, SpoolFrame.HEADER_BYTES + length, limit)) {
      return null;
    }
    return SpoolFrame.isWhole(window, length)
        ? new Frame(offset, end, window.slice(window.position() + SpoolFrame.HEADER_BYTES, length))
        : null;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  /** Moves the window's position to an offset; false: the file has not so many bytes there. */
  private boolean has(long offset, int bytes, long limit) throws IOException {
    if (offset < windowAt || offset + bytes > windowAt + window.limit()) {
      fill(offset, (int) Math.max(bytes, Math.min(WINDOW_BYTES, limit - offset)));
    }
    if (offset + bytes > windowAt + window.limit()) {
      return false;
    }
    window.position((int) (offset - windowAt));
    return true;
  }

  private void fill(long offset, int bytes) throws IOException {
    // A frame that was given out may still be read from the window before.
    window = ByteBuffer.allocate(bytes);
    windowAt = offset;
    while (window.hasRemaining()) {
      if (channel.read(window, offset + window.position()) < 0) {
        break;
      }
    }
    window.flip();
  }
}
