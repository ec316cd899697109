package firstlight.gpu.cuda;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The compiled kernels for a GPU: out of the jar, where the build compiled them for this kind; out
 * of a folder, where an earlier start did; or compiled now.
 *
 * <p>What is used is always made of the very sources in the jar: a file of another digest, or a
 * damaged one, counts as none.
 */
public final class KernelImages {
  /**
   * Machine code that the driver loads as it is.
   *
   * @param architecture what it is for, e.g. sm_90a
   */
  public record Image(String architecture, byte[] cubin, Origin origin) {}

  /** Where an image came from. */
  public enum Origin {
    JAR,
    CACHE,
    COMPILED
  }

  private static final Logger LOG = LoggerFactory.getLogger(KernelImages.class);
  private static final int DIGITS = 24;

  /** Of the SHA-256 at the end of a file. */
  private static final int CHECKSUM_BYTES = 32;

  private final KernelSources sources;
  private final KernelFiles built;
  private final Supplier<Optional<Nvrtc>> compiler;
  private final Path cacheFolder;

  /**
   * @param built where an image may lie that the build made
   * @param compiler asked only when there is none
   */
  KernelImages(
      KernelSources sources,
      KernelFiles built,
      Supplier<Optional<Nvrtc>> compiler,
      Path cacheFolder) {
    this.sources = sources;
    this.built = built;
    this.compiler = compiler;
    this.cacheFolder = cacheFolder;
  }

  /**
   * The image for GPUs of a compute capability. Compiling it may take a minute; whoever asks
   * meanwhile waits, and then finds it in the folder.
   *
   * @param cacheFolder the folder for files that can be made again
   * @throws RuntimeException there is none and it can not be made: why, and what to do
   */
  public static synchronized Image forGpu(int major, int minor, Path cacheFolder) {
    return new KernelImages(
            KernelSources.ofJar(),
            KernelFiles.ofJar(),
            () -> Nvrtc.find(NvrtcDownload.present(cacheFolder)),
            cacheFolder)
        .image(architecture(major, minor));
  }

  /** Some instructions of 9.0 are in the set of its own only. */
  static String architecture(int major, int minor) {
    return major == 9 && minor == 0 ? "sm_90a" : "sm_" + major + minor;
  }

  Image image(String architecture) {
    Optional<byte[]> shipped = shipped(architecture);
    if (shipped.isPresent()) {
      return new Image(architecture, shipped.get(), Origin.JAR);
    }
    Nvrtc nvrtc = compiler.get().orElseThrow(() -> unavailable(architecture));
    Optional<Path> file = cacheFile(architecture, nvrtc);
    Optional<byte[]> kept = file.flatMap(KernelImages::kept);
    if (kept.isPresent()) {
      return new Image(architecture, kept.get(), Origin.CACHE);
    }
    LOG.info("compiling the kernels for {} with NVRTC {}", architecture, nvrtc.version());
    byte[] cubin =
        nvrtc.compile(KernelSources.MAIN, sources.main(), sources.headers(), architecture).cubin();
    file.ifPresent(path -> keep(path, cubin));
    return new Image(architecture, cubin, Origin.COMPILED);
  }

  private static KernelsUnavailable unavailable(String architecture) {
    return new KernelsUnavailable(
        ("there are no compiled kernels for %s here, and %s, which compiles them, was not found:"
                + " install the CUDA 13 NVRTC library (e.g. the PyPI package %s), or put it on"
                + " LD_LIBRARY_PATH")
            .formatted(architecture, Nvrtc.LIBRARY, NvrtcDownload.PACKAGE.replace("==", " ")));
  }

  private Optional<byte[]> shipped(String architecture) {
    ImageNames names = new ImageNames(architecture);
    try {
      Optional<byte[]> digest = built.read(names.digest());
      if (digest.isEmpty()) {
        return Optional.empty();
      }
      if (!new String(digest.get(), StandardCharsets.UTF_8).strip().equals(sources.digest())) {
        LOG.warn("the jar's kernels for {} are not of its sources, and not used", architecture);
        return Optional.empty();
      }
      return built.read(names.image());
    } catch (IOException e) {
      LOG.warn("the jar's kernels for {} can not be read: {}", architecture, e.toString());
      return Optional.empty();
    }
  }

  /** Empty: nothing can be kept here, so that each start compiles. */
  private Optional<Path> cacheFile(String architecture, Nvrtc nvrtc) {
    String all = String.join("\n", sources.digest(), architecture, nvrtc.version());
    String digits = Sha256.hex(all).substring(0, DIGITS);
    try {
      return Optional.of(
          PrivateFolder.in(cacheFolder, "cuda")
              .resolve("kernels-" + architecture + "-" + digits + ".cubin"));
    } catch (IOException e) {
      LOG.warn("compiled kernels can not be kept: {}", e.toString());
      return Optional.empty();
    }
  }

  /** What a file has before its last bytes, which are the checksum of that. */
  private static Optional<byte[]> kept(Path file) {
    try {
      byte[] all =
          KernelFiles.ofFolder(file.getParent())
              .read(file.getFileName().toString())
              .orElseThrow(() -> new NoSuchFileException(file.toString()));
      int length = all.length - CHECKSUM_BYTES;
      if (length > 0) {
        byte[] cubin = Arrays.copyOf(all, length);
        if (Arrays.equals(checksum(cubin), Arrays.copyOfRange(all, length, all.length))) {
          return Optional.of(cubin);
        }
      }
      LOG.warn("{} is damaged and is made anew", file);
      Files.deleteIfExists(file);
    } catch (NoSuchFileException _) {
      return Optional.empty();
    } catch (IOException e) {
      LOG.warn("{} can not be read: {}", file, e.toString());
    }
    return Optional.empty();
  }

  private static byte[] checksum(byte[] cubin) {
    return Sha256.begin().digest(cubin);
  }

  private static void keep(Path file, byte[] cubin) {
    try {
      PrivateFolder.write(file, cubin, checksum(cubin));
    } catch (IOException e) {
      LOG.warn("compiled kernels can not be kept: {}", e.toString());
    }
  }
}
