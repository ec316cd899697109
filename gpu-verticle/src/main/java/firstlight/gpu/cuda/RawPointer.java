package firstlight.gpu.cuda;

import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/** Memory of ours as the bindings want it. Keeps the segment, so that it is not freed before. */
final class RawPointer extends Pointer {
  private final MemorySegment segment;

  RawPointer(MemorySegment segment) {
    this.segment = segment;
    address = segment.address();
  }

  MemorySegment segment() {
    return segment;
  }
}
