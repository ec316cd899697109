package firstlight.gpu;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Zeros that the operating system provides page by page when they are first touched. An {@link
 * Arena} writes its zeros itself, so that all of the memory would be resident from the start.
 */
@SuppressWarnings("restricted")
final class ZeroedMemory {
  /**
   * Of a huge page, which is asked for where the system has them: reading memory through pages of
   * the usual size costs a third of the bandwidth.
   */
  private static final long ALIGNMENT = 2L << 20;

  /** Linux's MADV_HUGEPAGE. */
  private static final int HUGE_PAGES = 14;

  private static final Linker LINKER = Linker.nativeLinker();

  private ZeroedMemory() {}

  /**
   * @return memory that is given back when the arena closes
   * @throws OutOfMemoryError there is no room for it
   */
  static MemorySegment allocate(long bytes, Arena arena) {
    MemorySegment memory;
    try {
      memory = (MemorySegment) calloc().invokeExact(1L, bytes + ALIGNMENT);
    } catch (Throwable e) {
      throw new IllegalStateException("calloc could not be called", e);
    }
    if (memory.equals(MemorySegment.NULL)) {
      throw new OutOfMemoryError("there are no %d bytes outside the heap".formatted(bytes));
    }
    MemorySegment aligned =
        memory
            .reinterpret(bytes + ALIGNMENT, arena, ZeroedMemory::free)
            .asSlice(-memory.address() & ALIGNMENT - 1, bytes);
    adviseHugePages(aligned);
    return aligned;
  }

  private static MethodHandle calloc() {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow("calloc"),
        FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
  }

  private static void free(MemorySegment memory) {
    MethodHandle free =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("free"),
            FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
    try {
      free.invokeExact(memory);
    } catch (Throwable e) {
      throw new IllegalStateException("free could not be called", e);
    }
  }

  /** Without them everything works too, so what comes back does not matter. */
  private static void adviseHugePages(MemorySegment memory) {
    if (!System.getProperty("os.name").equals("Linux")) {
      return;
    }
    MethodHandle advise =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("madvise"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT));
    try {
      int _ = (int) advise.invokeExact(memory, memory.byteSize(), HUGE_PAGES);
    } catch (Throwable e) {
      throw new IllegalStateException("madvise could not be called", e);
    }
  }
}
