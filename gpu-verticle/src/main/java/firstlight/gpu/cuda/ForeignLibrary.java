package firstlight.gpu.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A native library whose functions are called a few times in all, so that each call may look its
 * function up. It stays loaded as long as the process runs.
 */
final class ForeignLibrary {
  private final SymbolLookup symbols;

  private ForeignLibrary(SymbolLookup symbols) {
    this.symbols = symbols;
  }

  /**
   * The library, if it can be loaded.
   *
   * @param name a path, or a bare name that the dynamic linker finds
   */
  @SuppressWarnings("restricted")
  static Optional<ForeignLibrary> open(String name) {
    try {
      return Optional.of(new ForeignLibrary(SymbolLookup.libraryLookup(name, Arena.global())));
    } catch (IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  /**
   * Calls a function that returns a status.
   *
   * @param arguments of the classes Integer, Long and MemorySegment only
   */
  int call(String function, Object... arguments) {
    return (int) invoke(function, JAVA_INT, arguments);
  }

  /** Calls a function that returns a constant text; what is longer than the limit is cut. */
  String text(String function, int argument, int bytesMax) {
    return text((MemorySegment) invoke(function, ADDRESS, argument), bytesMax);
  }

  /** The text at an address that a library gave. */
  @SuppressWarnings("restricted")
  static String text(MemorySegment address, int bytesMax) {
    if (address.equals(MemorySegment.NULL)) {
      return "";
    }
    MemorySegment bytes = address.reinterpret(bytesMax);
    int length = 0;
    while (length < bytesMax && bytes.get(JAVA_BYTE, length) != 0) {
      length++;
    }
    return new String(bytes.asSlice(0, length).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
  }

  @SuppressWarnings("restricted")
  private Object invoke(String function, MemoryLayout result, Object... arguments) {
    MemoryLayout[] layouts =
        Arrays.stream(arguments).map(ForeignLibrary::layout).toArray(MemoryLayout[]::new);
    MemorySegment address =
        symbols
            .find(function)
            .orElseThrow(() -> new IllegalStateException("there is no function " + function));
    try {
      return Linker.nativeLinker()
          .downcallHandle(address, FunctionDescriptor.of(result, layouts))
          .invokeWithArguments(List.of(arguments));
    } catch (Throwable e) {
      throw new IllegalStateException(function, e);
    }
  }

  private static MemoryLayout layout(Object argument) {
    return switch (argument) {
      case Integer _ -> JAVA_INT;
      case Long _ -> JAVA_LONG;
      case MemorySegment _ -> ADDRESS;
      default -> throw new IllegalArgumentException(argument.getClass().getName());
    };
  }
}
