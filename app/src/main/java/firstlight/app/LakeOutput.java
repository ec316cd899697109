package firstlight.app;

import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where rows go: the standard output, or a file that has its name only once it is complete. Always
 * UTF-8.
 */
final class LakeOutput implements AutoCloseable {
  private final @Nullable Path file;
  private final @Nullable Path part;
  private @Nullable Writer writer;

  /** Nobody reads the standard output any more. */
  static final class Gone extends IOException {
    private static final long serialVersionUID = 1;

    Gone(IOException cause) {
      super("nobody reads the output any more", cause);
    }
  }

  LakeOutput(@Nullable Path file) {
    this.file = file == null ? null : file.toAbsolutePath().normalize();
    this.part =
        this.file == null
            ? null
            : this.file.resolveSibling(
                ".%s.%d.part".formatted(this.file.getFileName(), ProcessHandle.current().pid()));
    if (this.file != null && !Files.isDirectory(this.file.getParent())) {
      throw new StartFailure("there is no folder %s".formatted(this.file.getParent()));
    }
  }

  /** The file as it is written, if there is one. */
  Optional<Path> part() {
    return Optional.ofNullable(part);
  }

  Writer writer() throws IOException {
    if (writer == null) {
      OutputStream out = part == null ? new StandardOutput() : Files.newOutputStream(part);
      writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
    }
    return writer;
  }

  /** Everything has been written. */
  void complete() throws IOException {
    if (writer != null) {
      writer.flush();
    }
    if (file != null && part != null) {
      if (writer != null) {
        writer.close();
      }
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  @Override
  public void close() throws IOException {
    if (part != null) {
      if (writer != null) {
        writer.close();
      }
      Files.deleteIfExists(part);
    }
  }

  private static final class StandardOutput extends FilterOutputStream {
    StandardOutput() {
      super(new FileOutputStream(FileDescriptor.out));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      try {
        out.write(bytes, offset, length);
      } catch (IOException e) {
        throw new Gone(e);
      }
    }
  }
}
