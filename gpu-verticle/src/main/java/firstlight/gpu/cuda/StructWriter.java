package firstlight.gpu.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Writes what a kernel is told: one C structure, whose fields are named here in their order. Each
 * stands at a multiple of its size, as the compilers of both sides put it.
 */
public final class StructWriter {
  private static final long BYTES_MAX = 512;

  /** Like that of a structure's largest fields. */
  private static final int ALIGNMENT = 8;

  private final MemorySegment into;
  private long end;

  public StructWriter() {
    into = Arena.ofAuto().allocate(BYTES_MAX, ALIGNMENT);
  }

  /** An address, or 0. */
  public StructWriter pointer(long address) {
    return longs(address);
  }

  public StructWriter longs(long... values) {
    for (long value : values) {
      into.set(ValueLayout.JAVA_LONG, next(Long.BYTES), value);
    }
    return this;
  }

  public StructWriter ints(int... values) {
    for (int value : values) {
      into.set(ValueLayout.JAVA_INT, next(Integer.BYTES), value);
    }
    return this;
  }

  public StructWriter flag(boolean value) {
    return ints(value ? 1 : 0);
  }

  public StructWriter real(float value) {
    into.set(ValueLayout.JAVA_FLOAT, next(Float.BYTES), value);
    return this;
  }

  /** Ends a structure within, or before one begins: both have pointers. */
  public StructWriter align() {
    end = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return this;
  }

  private long next(int size) {
    long at = (end + size - 1) / size * size;
    end = at + size;
    return at;
  }

  /** All of it, padding included. */
  MemorySegment done() {
    align();
    return into.asSlice(0, end);
  }
}
