package firstlight.gpu;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import firstlight.model.CacheFolder;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The products of {@code cpu_kernels.cpp}, for processors that can multiply and add bytes in one
 * instruction, which Java has no operation for. They work on the weights that the Java kernels use
 * and give the same bits, so which of them runs is a matter of speed alone.
 */
final class NativeKernels {
  /** Ints of weights times tokens in a call, since a collection has to wait for the call to end. */
  private static final long CALL_MAX = 4L << 20;

  private static final FunctionDescriptor SIGNATURE =
      FunctionDescriptor.ofVoid(
          JAVA_INT,
          JAVA_INT,
          JAVA_FLOAT,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT);

  private static final @Nullable SymbolLookup LIBRARY =
      load(NativeLibrary.build(CacheFolder.ofUser()));

  /** Bound once for the whole process, because only a constant handle is called directly. */
  private static final @Nullable MethodHandle MULTIPLY = bind(LIBRARY);

  private NativeKernels() {}

  /** Whether there are native kernels here, for vectors as wide as ours. */
  static boolean available() {
    return MULTIPLY != null;
  }

  /** What they use of the processor, beside products of bytes; nothing where there are none. */
  static String extras() {
    return LIBRARY != null && number(LIBRARY, "firstlight_tiles") != 0 ? " (with tiles)" : "";
  }

  /** The library, if it is made for vectors as wide as ours; null: there is none. */
  @SuppressWarnings("restricted")
  private static @Nullable SymbolLookup load(@Nullable Path library) {
    if (library == null) {
      return null;
    }
    try {
      SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
      return Lanes.PAIR % number(symbols, "firstlight_lanes") == 0 ? symbols : null;
    } catch (RuntimeException e) {
      NativeLibrary.LOG.warn("the native kernels can not be used: {}", e.toString());
      return null;
    }
  }

  @SuppressWarnings("restricted")
  private static @Nullable MethodHandle bind(@Nullable SymbolLookup library) {
    // Critical: it may read Java arrays where they are. Calls are short, so collections wait
    // little.
    return library == null
        ? null
        : Linker.nativeLinker()
            .downcallHandle(
                library.findOrThrow("firstlight_multiply"),
                SIGNATURE,
                Linker.Option.critical(true));
  }

  /** What a function without parameters says. */
  @SuppressWarnings("restricted")
  private static int number(SymbolLookup library, String function) {
    try {
      return (int)
          Linker.nativeLinker()
              .downcallHandle(library.findOrThrow(function), FunctionDescriptor.of(JAVA_INT))
              .invokeExact();
    } catch (Throwable e) {
      throw new IllegalStateException(function, e);
    }
  }

  /**
   * Multiplies some tokens by some pairs of groups of rows.
   *
   * @param kind 4 for nibbles, 8 for bytes, 6 for bytes whose halves of a block are scaled apart
   */
  static void multiply(
      int kind,
      QuantisedMatrix source,
      Activations in,
      Share.Range tokens,
      float[] out,
      Share.Range pairs) {
    MemorySegment segment = MemorySegment.ofArray(out);
    long work = (long) kind * source.blocks * Lanes.PAIR * (tokens.to() - tokens.from());
    int most = (int) Math.max(1, CALL_MAX / work);
    for (int first = pairs.from(); first < pairs.to(); first += most) {
      int end = Math.min(pairs.to(), first + most);
      call(kind, source, in, tokens, segment, new Share.Range(first, end));
    }
  }

  private static MemorySegment segment(@Nullable Plane plane) {
    return plane == null ? MemorySegment.NULL : plane.segment();
  }

  private static void call(
      int kind,
      QuantisedMatrix source,
      Activations in,
      Share.Range tokens,
      MemorySegment out,
      Share.Range pairs) {
    MethodHandle handle = MULTIPLY;
    if (handle == null) {
      throw new IllegalStateException("there are no native kernels");
    }
    QuantisedMatrix.Scaling scaling = source.scaling;
    try {
      handle.invokeExact(
          kind,
          scaling.scales().isHalf() ? 1 : 0,
          scaling.centre(),
          source.quantsSegment,
          scaling.scales().segment(),
          segment(scaling.highs()),
          segment(scaling.minima()),
          in.bytesSegment,
          in.scalesSegment,
          in.sumsSegment,
          in.totalsSegment,
          out,
          source.blocks,
          Lanes.PAIR,
          source.stride(),
          pairs.from(),
          pairs.to(),
          tokens.from(),
          tokens.to());
    } catch (Throwable e) {
      throw new IllegalStateException("a native kernel failed", e);
    }
  }
}
