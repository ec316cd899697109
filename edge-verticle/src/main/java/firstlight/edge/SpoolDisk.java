package firstlight.edge;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What the spool's writer does to the disk, so that a test can have a disk that fails. Blocks. */
interface SpoolDisk {
  /** A new file, to be written; it is on the disk when {@link #force} says so. */
  FileChannel create(Path path) throws IOException;

  /** Writes all of it behind what is there, or fails in the middle of it. */
  void append(FileChannel file, ByteBuffer bytes) throws IOException;

  /** Waits until the power may fail. */
  void force(FileChannel file) throws IOException;

  /** What may still be written to the disk that the folder is on. */
  long freeBytes(Path folder) throws IOException;

  /** The machine's. */
  static SpoolDisk real() {
    return new Real();
  }

  /** The machine's. */
  class Real implements SpoolDisk {
    @Override
    public FileChannel create(Path path) throws IOException {
      return FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    @Override
    public void append(FileChannel file, ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
    }

    @Override
    public void force(FileChannel file) throws IOException {
      file.force(false);
    }

    @Override
    public long freeBytes(Path folder) throws IOException {
      return Files.getFileStore(folder).getUsableSpace();
    }
  }
}
