package firstlight.gpu.cuda;

import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/** Memory as the bindings want it. Keeps our own, so that it is not freed before. */
final class RawPointer extends Pointer {
  private final MemorySegment segment;

  RawPointer(MemorySegment segment) {
    this.segment = segment;
    address = segment.address();
  }

  /** Memory of a GPU, which knows itself how long it lives. */
  RawPointer(long address) {
    this(MemorySegment.ofAddress(address));
  }

  MemorySegment segment() {
    return segment;
  }
}
