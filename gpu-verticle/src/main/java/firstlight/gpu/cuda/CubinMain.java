package firstlight.gpu.cuda;

import firstlight.model.CacheFolder;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A step of the build: compiles the kernels for one kind of GPU into the folder that becomes the
 * jar. A machine that can not have the compiler builds a jar without compiled kernels.
 */
final class CubinMain {
  private final Path folder;
  private final String architecture;
  private final ImageNames names;
  private final PrintStream out;

  /**
   * @param classes the folder that becomes the jar
   */
  CubinMain(Path classes, String architecture, PrintStream out) {
    this.folder = classes.resolve(CubinMain.class.getPackageName().replace('.', '/'));
    this.architecture = architecture;
    this.names = new ImageNames(architecture);
    this.out = out;
  }

  /** Its arguments: the folder of the classes, the architecture. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    if (arguments.length != 2) {
      System.err.println("usage: CubinMain <folder of classes> <architecture>");
      System.exit(2);
    }
    System.exit(
        new CubinMain(Path.of(arguments[0]), arguments[1], System.out)
            .run(new NvrtcDownload(), Nvrtc::find, CacheFolder.ofUser()));
  }

  /** Looks for the compiler: in a folder first. */
  @FunctionalInterface
  interface Search {
    Optional<Nvrtc> find(Optional<Path> folder);
  }

  /** The exit status: 1 when the sources do not compile. */
  int run(NvrtcDownload download, Search search, Path cacheFolder)
      throws IOException, InterruptedException {
    KernelSources sources = KernelSources.of(KernelFiles.ofFolder(folder));
    if (isBuilt(sources)) {
      return 0;
    }
    // What is there is of other sources: better none, when making new ones fails.
    for (Path old : List.of(digestFile(), imageFile(), reportFile())) {
      Files.deleteIfExists(old);
    }
    try {
      return compile(sources, nvrtc(download, search, cacheFolder));
    } catch (KernelsUnavailable e) {
      out.println(
          "the jar has no compiled kernels; GPUs compile them at the first start: "
              + e.getMessage());
      return 0;
    } catch (KernelCompileException e) {
      out.println(e.getMessage());
      return 1;
    }
  }

  private static Nvrtc nvrtc(NvrtcDownload download, Search search, Path cacheFolder)
      throws InterruptedException {
    String missing = Nvrtc.LIBRARY + " does not load";
    Optional<Path> fetched = Optional.empty();
    try {
      fetched = Optional.of(download.fetch(cacheFolder));
    } catch (IOException e) {
      missing = String.valueOf(e instanceof FileSystemException ? e : e.getMessage());
    }
    Optional<Nvrtc> nvrtc = search.find(fetched);
    if (nvrtc.isEmpty()) {
      throw new KernelsUnavailable(missing);
    }
    return nvrtc.get();
  }

  private int compile(KernelSources sources, Nvrtc nvrtc) throws IOException {
    Nvrtc.Compiled compiled =
        nvrtc.compile(KernelSources.MAIN, sources.main(), sources.headers(), architecture);
    List<KernelUse> uses = KernelUse.of(compiled.log());
    String report =
        uses.stream()
            .map(use -> use + "\n")
            .collect(Collectors.joining("", "NVRTC " + nvrtc.version() + "\n", ""));
    PrivateFolder.write(imageFile(), compiled.cubin());
    PrivateFolder.write(reportFile(), report.getBytes(StandardCharsets.UTF_8));
    // The last one: it says that the others are there.
    PrivateFolder.write(digestFile(), sources.digest().getBytes(StandardCharsets.UTF_8));
    out.printf("%d kernels for %s, %d bytes%n", uses.size(), architecture, compiled.cubin().length);
    uses.stream().filter(KernelUse::spills).forEach(use -> out.println("spills: " + use));
    return 0;
  }

  private boolean isBuilt(KernelSources sources) throws IOException {
    return Files.exists(imageFile())
        && Files.exists(digestFile())
        && Files.readString(digestFile()).equals(sources.digest());
  }

  private Path imageFile() {
    return folder.resolve(names.image());
  }

  private Path digestFile() {
    return folder.resolve(names.digest());
  }

  private Path reportFile() {
    return folder.resolve(names.report());
  }
}
