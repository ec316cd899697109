package firstlight.gpu;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Scales or minima of a packed matrix: as half floats where the file has them so, since a decoded
 * token reads each of them once, and otherwise as floats.
 */
final class Plane {
  private final short @Nullable [] halves;
  private final float @Nullable [] floats;
  private final MemorySegment segment;

  /**
   * @param half whether all values will be half floats exactly
   */
  Plane(int size, boolean half) {
    halves = half ? new short[size] : null;
    floats = half ? null : new float[size];
    segment = halves != null ? MemorySegment.ofArray(halves) : MemorySegment.ofArray(floats);
  }

  boolean isHalf() {
    return halves != null;
  }

  /** All of it, as it is kept. */
  MemorySegment segment() {
    return segment;
  }

  void put(int at, float value) {
    if (floats != null) {
      floats[at] = value;
    } else if (halves != null) {
      halves[at] = Float.floatToFloat16(value);
    }
  }

  float get(int at) {
    return floats != null ? floats[at] : halves == null ? 0 : Float.float16ToFloat(halves[at]);
  }

  /**
   * Reads a value in passing, so that the processor has the memory around it at hand when {@link
   * #read} comes to it; what is returned means nothing. Java has no other way to ask for that.
   */
  int touch(int at) {
    final short[] packed = halves;
    return packed != null && at < packed.length ? packed[at] : 0;
  }

  /** Decodes {@code count} values. */
  void read(int from, int count, float[] into) {
    final short[] packed = halves;
    if (packed == null) {
      System.arraycopy(floats, from, into, 0, count);
      return;
    }
    // Simple enough for the compiler to use the processor's own conversion of whole vectors.
    for (int i = 0; i < count; i++) {
      into[i] = Float.float16ToFloat(packed[from + i]);
    }
  }
}
