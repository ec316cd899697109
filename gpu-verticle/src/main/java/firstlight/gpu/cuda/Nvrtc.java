package firstlight.gpu.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * NVIDIA's compiler for kernels, called in this process. It needs neither a GPU nor a driver.
 *
 * <p>It makes machine code for one kind of GPU (a cubin), never PTX: a driver refuses PTX that is
 * newer than itself.
 */
final class Nvrtc {
  /** The library's name; its helper must lie beside it. */
  static final String LIBRARY = "libnvrtc.so.13";

  /** Beside the architecture. The last one makes the log say what each kernel uses. */
  static final List<String> OPTIONS =
      List.of("-std=c++17", "-default-device", "--ptxas-options=-v");

  /** Which the library opens by its bare name, wherever itself was found. */
  private static final String HELPERS = "libnvrtc-builtins.so.13.*";

  private static final int COMPILATION = 6;
  private static final Pattern ARCHITECTURE = Pattern.compile("sm_[0-9]{2,3}[af]?");
  private static final long CUBIN_BYTES_MAX = 256L << 20;
  private static final long LOG_BYTES_MAX = 16L << 20;
  private static final int ERROR_BYTES_MAX = 256;
  private static final int LINE_MAX = 500;
  private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};

  /** The compiler recurses: a stack that overflows in it ends the whole process. */
  private static final long STACK_BYTES = 64L << 20;

  /**
   * Compiled kernels.
   *
   * @param log what the compiler printed: warnings, and what each kernel uses
   */
  record Compiled(byte[] cubin, String log) {}

  private final ForeignLibrary library;
  private final String version;

  private Nvrtc(ForeignLibrary library) {
    this.library = library;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment major = arena.allocate(JAVA_INT);
      MemorySegment minor = arena.allocate(JAVA_INT);
      check("nvrtcVersion", major, minor);
      this.version = major.get(JAVA_INT, 0) + "." + minor.get(JAVA_INT, 0);
    }
  }

  /**
   * The compiler, if it is on this machine.
   *
   * @param folder where it may lie; after that, it is looked for where libraries are
   */
  static Optional<Nvrtc> find(Optional<Path> folder) {
    return folder
        .flatMap(Nvrtc::openIn)
        .flatMap(Nvrtc::of)
        .or(() -> ForeignLibrary.open(LIBRARY).flatMap(Nvrtc::of));
  }

  /** Empty: the library is another one, whatever its name. */
  private static Optional<Nvrtc> of(ForeignLibrary library) {
    try {
      return Optional.of(new Nvrtc(library));
    } catch (IllegalStateException _) {
      return Optional.empty();
    }
  }

  private static Optional<ForeignLibrary> openIn(Path folder) {
    Path library = folder.resolve(LIBRARY).toAbsolutePath();
    if (!Files.isRegularFile(library)) {
      return Optional.empty();
    }
    try (DirectoryStream<Path> helpers = Files.newDirectoryStream(library.getParent(), HELPERS)) {
      // Once it is loaded, its bare name finds it.
      helpers.forEach(helper -> ForeignLibrary.open(helper.toString()));
    } catch (IOException | DirectoryIteratorException _) {
      return Optional.empty();
    }
    return ForeignLibrary.open(library.toString());
  }

  /** E.g. 13.0. */
  String version() {
    return version;
  }

  /**
   * Compiles a file for one kind of GPU.
   *
   * @param name of the file, for messages
   * @param headers the text of each file that may be included, by the name it is included by
   * @param architecture e.g. sm_90a
   * @throws KernelCompileException the compiler refuses it
   * @throws KernelsUnavailable the compiler does not work here, or not for that architecture
   */
  Compiled compile(String name, String source, Map<String, String> headers, String architecture) {
    if (!ARCHITECTURE.matcher(architecture).matches()) {
      throw new IllegalArgumentException("not an architecture: " + architecture);
    }
    FutureTask<Compiled> task =
        new FutureTask<>(() -> compileHere(name, source, new TreeMap<>(headers), architecture));
    Thread.ofPlatform().name("nvrtc").daemon().stackSize(STACK_BYTES).start(task);
    try {
      return task.get();
    } catch (InterruptedException _) {
      // The compiler can not be stopped; its thread ends by itself, and its result is dropped.
      Thread.currentThread().interrupt();
      throw new KernelCompileException("interrupted while compiling " + name, "");
    } catch (ExecutionException e) {
      throw switch (e.getCause()) {
        case KernelCompileException refused -> refused;
        case KernelsUnavailable unavailable -> unavailable;
        case null, default -> new IllegalStateException("the kernel compiler failed", e);
      };
    }
  }

  private Compiled compileHere(
      String name, String source, Map<String, String> headers, String architecture) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment handle = arena.allocate(ADDRESS);
      check(
          "nvrtcCreateProgram",
          handle,
          arena.allocateFrom(source),
          arena.allocateFrom(name),
          headers.size(),
          texts(arena, headers.values()),
          texts(arena, headers.keySet()));
      try {
        return compileProgram(arena, handle.get(ADDRESS, 0), name, architecture);
      } finally {
        library.call("nvrtcDestroyProgram", handle);
      }
    }
  }

  private Compiled compileProgram(
      Arena arena, MemorySegment program, String name, String architecture) {
    List<String> options =
        Stream.concat(Stream.of("-arch=" + architecture), OPTIONS.stream()).toList();
    int status =
        library.call("nvrtcCompileProgram", program, options.size(), texts(arena, options));
    byte[] log = bytes("nvrtcGetProgramLog", program, LOG_BYTES_MAX);
    String said = new String(log, StandardCharsets.UTF_8).replace("\0", "");
    if (status != 0 && status != COMPILATION) {
      String line = said.strip().replaceAll("\\s+", " ");
      throw new KernelsUnavailable(
          "%s does not work here for %s (%s) %s"
              .formatted(
                  LIBRARY,
                  architecture,
                  error(status),
                  line.substring(0, Math.min(LINE_MAX, line.length()))));
    }
    if (status != 0) {
      throw new KernelCompileException(
          "%s does not compile for %s (%s)".formatted(name, architecture, error(status)), said);
    }
    byte[] cubin = bytes("nvrtcGetCUBIN", program, CUBIN_BYTES_MAX);
    if (!Arrays.equals(cubin, 0, Math.min(ELF.length, cubin.length), ELF, 0, ELF.length)) {
      throw new KernelCompileException("the compiler gave no machine code for " + name, said);
    }
    return new Compiled(cubin, said);
  }

  /** What a pair of functions gives, of which one says the size: the other's name and "Size". */
  private byte[] bytes(String function, MemorySegment program, long bytesMax) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment size = arena.allocate(JAVA_LONG);
      check(function + "Size", program, size);
      long bytes = size.get(JAVA_LONG, 0);
      if (bytes < 0 || bytes > bytesMax) {
        throw new IllegalStateException(function + "Size says " + bytes);
      }
      MemorySegment out = arena.allocate(Math.max(1, bytes));
      check(function, program, out);
      return out.asSlice(0, bytes).toArray(JAVA_BYTE);
    }
  }

  private static MemorySegment texts(Arena arena, Collection<String> texts) {
    MemorySegment array = arena.allocate(ADDRESS, Math.max(1, texts.size()));
    int index = 0;
    for (String text : texts) {
      array.setAtIndex(ADDRESS, index++, arena.allocateFrom(text));
    }
    return array;
  }

  private void check(String function, Object... arguments) {
    int status = library.call(function, arguments);
    if (status != 0) {
      throw new IllegalStateException(function + " says " + error(status));
    }
  }

  private String error(int status) {
    return library.text("nvrtcGetErrorString", status, ERROR_BYTES_MAX);
  }
}
