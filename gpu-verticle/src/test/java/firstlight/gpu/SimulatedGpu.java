package firstlight.gpu;

import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.Launch;
import firstlight.gpu.cuda.PinnedMemory;
import firstlight.gpu.cuda.SimulatedDriver;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/** A GPU of the simulated driver, with short ways to fill its memory and to read it. */
final class SimulatedGpu implements AutoCloseable {
  /** The simulated driver has its kernels already; it only looks whether this is an image. */
  static final byte[] IMAGE = "\177ELF".getBytes(StandardCharsets.ISO_8859_1);

  final Gpu gpu;
  final Kernels kernels;
  private final Map<Long, DeviceMemory> memories = new HashMap<>();

  private SimulatedGpu() {
    gpu = Gpu.open(0, IMAGE);
    kernels = new Kernels(gpu);
  }

  /** Skips the test that asks where the driver can not be built. */
  static void require() {
    SimulatedDriver.unavailable()
        .ifPresent(reason -> Assumptions.abort("no simulated driver: " + reason));
    SimulatedDriver.load();
    SimulatedDriver.reset();
  }

  static SimulatedGpu open() {
    require();
    return new SimulatedGpu();
  }

  void run(Launch launch) {
    gpu.stream().launch(launch);
    gpu.stream().await();
  }

  /** Memory with anything in it. */
  long room(long bytes) {
    DeviceMemory memory = gpu.allocate(bytes, "a test");
    memories.put(memory.address(), memory);
    return memory.address();
  }

  long upload(MemorySegment from) {
    PinnedMemory pinned = gpu.pin(from.byteSize());
    long address = room(from.byteSize());
    pinned.segment().copyFrom(from);
    gpu.stream().upload(pinned, 0, memories.get(address), 0, from.byteSize());
    gpu.stream().await();
    gpu.free(pinned);
    return address;
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
  float[] floats(long address) {
    return download(address).toArray(ValueLayout.JAVA_FLOAT);
  }

  int[] ints(long address) {
    return download(address).toArray(ValueLayout.JAVA_INT);
  }

  short[] shorts(long address) {
    return download(address).toArray(ValueLayout.JAVA_SHORT);
  }

  byte[] bytes(long address) {
    return download(address).toArray(ValueLayout.JAVA_BYTE);
  }

  @Override
  public void close() {
    gpu.close();
  }
}
