package firstlight.edge;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** A disk with little space, that may also break. */
final class FaultyDisk implements SpoolDisk {
  private final SpoolDisk real = SpoolDisk.real();
  private long space = Long.MAX_VALUE;
  private long free = Long.MAX_VALUE;
  private boolean broken;
  private boolean forgetful;

  /** So much can still be written; what does not fit is written in part. */
  void space(long bytes) {
    space = bytes;
  }

  /** What it says is free. */
  void free(long bytes) {
    free = bytes;
  }

  /** Nothing can be written or created. */
  void broken(boolean now) {
    broken = now;
  }

  /** What was written can not be made safe. */
  void forgetful(boolean now) {
    forgetful = now;
  }

  @Override
  public FileChannel create(Path path) throws IOException {
    check();
    return real.create(path);
  }

  @Override
  public void append(FileChannel file, ByteBuffer bytes) throws IOException {
    check();
    if (bytes.remaining() > space) {
      real.append(file, bytes.slice(bytes.position(), (int) space));
      space = 0;
      throw new IOException("No space left on device");
    }
    space -= bytes.remaining();
    real.append(file, bytes);
  }

  @Override
  public void force(FileChannel file) throws IOException {
    check();
    if (forgetful) {
      throw new IOException("Input/output error");
    }
    // The power does not fail in tests.
  }

  @Override
  public long freeBytes(Path folder) {
    return free;
  }

  private void check() throws IOException {
    if (broken) {
      throw new IOException("Input/output error");
    }
  }
}
