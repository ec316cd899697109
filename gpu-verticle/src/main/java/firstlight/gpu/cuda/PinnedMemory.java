package firstlight.gpu.cuda;

import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/**
 * Memory of the host that the GPU copies from and to by itself. Whoever has a copy under way leaves
 * it alone until the stream was waited for. It lives as long as its {@link Gpu}.
 */
public final class PinnedMemory {
  private final Pointer pointer;
  private final MemorySegment segment;

  /** Room from the driver. */
  @SuppressWarnings("restricted")
  PinnedMemory(Pointer pointer, long bytes) {
    this.pointer = pointer;
    this.segment = MemorySegment.ofAddress(pointer.address()).reinterpret(bytes);
  }

  public MemorySegment segment() {
    return segment;
  }

  Pointer pointer() {
    return pointer;
  }

  /** What a copy uses. */
  Pointer part(long offset, long length) {
    return new RawPointer(segment.asSlice(offset, length));
  }
}
