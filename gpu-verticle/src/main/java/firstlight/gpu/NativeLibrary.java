package firstlight.gpu;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compiles the native kernels with the machine's own {@code g++}, once for each version of them and
 * kind of processor, into the cache folder. Whatever is missing or goes wrong, the answer is that
 * there is no library, and Java kernels do the work.
 */
final class NativeLibrary {
  static final Logger LOG = LoggerFactory.getLogger(NativeKernels.class);
  private static final String SOURCE = "cpu_kernels.cpp";
  private static final Path PROCESSOR = Path.of("/proc/cpuinfo");
  private static final long COMPILE_SECONDS_MAX = 60;
  private static final int SOURCE_BYTES_MAX = 1 << 20;

  private NativeLibrary() {}

  /**
   * The library, built now or before; null: there is none.
   *
   * @param cacheFolder in which it lies
   */
  static @Nullable Path build(Path cacheFolder) {
    try {
      String processor = processor();
      if (!processor.contains("avx512_vnni") && !processor.contains("avx_vnni")) {
        return null;
      }
      byte[] source = source();
      Path library = directory(cacheFolder).resolve("cpu-" + digest(source, processor) + ".so");
      return Files.exists(library) || compile(source, library) ? library : null;
    } catch (IOException e) {
      LOG.info("no native kernels: {}", e.toString());
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** What the processor can do: a line of names. */
  private static String processor() throws IOException {
    if (!Files.isReadable(PROCESSOR)) {
      return "";
    }
    try (var lines = Files.lines(PROCESSOR, StandardCharsets.ISO_8859_1)) {
      return lines.filter(line -> line.startsWith("flags")).findFirst().orElse("");
    }
  }

  private static byte[] source() throws IOException {
    try (InputStream in = NativeLibrary.class.getResourceAsStream(SOURCE)) {
      if (in == null) {
        throw new IOException(SOURCE + " is missing");
      }
      return in.readNBytes(SOURCE_BYTES_MAX);
    }
  }

  /** Only its owner may write there, since what lies in it is run. */
  private static Path directory(Path cacheFolder) throws IOException {
    Files.createDirectories(cacheFolder);
    Path own = cacheFolder.resolve("native");
    if (!Files.isDirectory(own)) {
      Files.createDirectory(
          own, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    return own;
  }

  private static String digest(byte[] source, String processor) {
    MessageDigest digest = Sha256.begin();
    digest.update(source);
    digest.update(processor.getBytes(StandardCharsets.ISO_8859_1));
    return HexFormat.of().formatHex(digest.digest(), 0, 12);
  }

  private static boolean compile(byte[] source, Path library)
      throws IOException, InterruptedException {
    Path work = Files.createTempDirectory(library.getParent(), "build");
    try {
      Path code = Files.write(work.resolve(SOURCE), source);
      Path made = work.resolve("made.so");
      Path said = work.resolve("said");
      Process process =
          new ProcessBuilder(
                  List.of(
                      "g++",
                      "-O3",
                      "-march=native",
                      "-ffp-contract=off",
                      "-fvisibility=hidden",
                      "-shared",
                      "-fPIC",
                      "-o",
                      made.toString(),
                      code.toString()))
              .redirectErrorStream(true)
              .redirectOutput(said.toFile())
              .start();
      if (!process.waitFor(COMPILE_SECONDS_MAX, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
        LOG.warn("the native kernels are not compiled after {} s", COMPILE_SECONDS_MAX);
        return false;
      }
      if (process.exitValue() != 0) {
        LOG.warn("the native kernels do not compile: {}", firstLine(said));
        return false;
      }
      Files.move(made, library, StandardCopyOption.ATOMIC_MOVE);
      return true;
    } finally {
      clear(work);
    }
  }

  private static String firstLine(Path file) throws IOException {
    try (var lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      return lines.findFirst().orElse("");
    }
  }

  private static void clear(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }
}
