package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.Launch;
import firstlight.gpu.cuda.PinnedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/** Memory of a GPU for one part of a check, with short ways to fill and to read it. */
final class CheckMemory implements AutoCloseable {
  private final Gpu gpu;
  private final Map<Long, DeviceMemory> memories = new HashMap<>();

  CheckMemory(Gpu gpu) {
    this.gpu = gpu;
  }

  void run(Launch launch) {
    gpu.stream().launch(launch);
    gpu.stream().await();
  }

  DeviceMemory take(long bytes) {
    DeviceMemory memory = gpu.allocate(bytes, "the check");
    memories.put(memory.address(), memory);
    return memory;
  }

  /** Memory with anything in it. */
  long room(long bytes) {
    return take(bytes).address();
  }

  /** What was allocated elsewhere is freed with the rest. */
  CudaMatrix keep(CudaMatrix matrix) {
    keep(matrix.address(), matrix.rows() * matrix.rowBytes());
    if (matrix.scales() != 0) {
      keep(matrix.scales(), (long) matrix.rows() * Float.BYTES);
    }
    return matrix;
  }

  private void keep(long address, long bytes) {
    memories.put(address, new DeviceMemory(address, bytes));
  }

  private long upload(MemorySegment from) {
    PinnedMemory pinned = gpu.pin(from.byteSize());
    DeviceMemory memory = take(from.byteSize());
    pinned.segment().copyFrom(from);
    gpu.stream().upload(pinned, 0, memory, 0, from.byteSize());
    gpu.stream().await();
    gpu.free(pinned);
    return memory.address();
  }

  long ints(int... from) {
    return upload(MemorySegment.ofArray(from));
  }

  long floats(float... from) {
    return upload(MemorySegment.ofArray(from));
  }

  long shorts(short... from) {
    return upload(MemorySegment.ofArray(from));
  }

  /** {@code Counts} of {@code device.cuh}. */
  long counts(int rows, int sampled, int tiles, int splits) {
    return ints(rows, sampled, tiles, splits);
  }

  private MemorySegment download(long address) {
    DeviceMemory memory = memories.get(address);
    PinnedMemory pinned = gpu.pin(memory.bytes());
    gpu.stream().download(memory, 0, pinned, 0, memory.bytes());
    gpu.stream().await();
    MemorySegment copy = MemorySegment.ofArray(new long[(int) ((memory.bytes() + 7) / 8)]);
    copy.asSlice(0, memory.bytes()).copyFrom(pinned.segment());
    gpu.free(pinned);
    return copy.asSlice(0, memory.bytes());
  }

  /** All that is at an address. */
  float[] readFloats(long address) {
    return download(address).toArray(ValueLayout.JAVA_FLOAT);
  }

  int[] readInts(long address) {
    return download(address).toArray(ValueLayout.JAVA_INT);
  }

  short[] readShorts(long address) {
    return download(address).toArray(ValueLayout.JAVA_SHORT);
  }

  byte[] readBytes(long address) {
    return download(address).toArray(ValueLayout.JAVA_BYTE);
  }

  /** After a failure the driver frees nothing; then the whole GPU is given back. */
  @Override
  public void close() {
    try {
      memories.values().forEach(gpu::free);
    } catch (CudaException _) {
      memories.clear();
    }
  }
}
