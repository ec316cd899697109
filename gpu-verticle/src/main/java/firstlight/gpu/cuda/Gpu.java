package firstlight.gpu.cuda;

import static firstlight.gpu.cuda.CudaException.check;
import static org.bytedeco.cuda.global.cudart.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
import static org.bytedeco.cuda.global.cudart.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
import static org.bytedeco.cuda.global.cudart.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
import static org.bytedeco.cuda.global.cudart.cuCtxSetCurrent;
import static org.bytedeco.cuda.global.cudart.cuDeviceGet;
import static org.bytedeco.cuda.global.cudart.cuDeviceGetAttribute;
import static org.bytedeco.cuda.global.cudart.cuDeviceGetName;
import static org.bytedeco.cuda.global.cudart.cuDevicePrimaryCtxRelease;
import static org.bytedeco.cuda.global.cudart.cuDevicePrimaryCtxReset;
import static org.bytedeco.cuda.global.cudart.cuDevicePrimaryCtxRetain;
import static org.bytedeco.cuda.global.cudart.cuInit;
import static org.bytedeco.cuda.global.cudart.cuMemAlloc;
import static org.bytedeco.cuda.global.cudart.cuMemAllocHost;
import static org.bytedeco.cuda.global.cudart.cuMemFree;
import static org.bytedeco.cuda.global.cudart.cuMemFreeHost;
import static org.bytedeco.cuda.global.cudart.cuMemGetInfo;
import static org.bytedeco.cuda.global.cudart.cuModuleGetFunction;
import static org.bytedeco.cuda.global.cudart.cuModuleLoadData;
import static org.bytedeco.cuda.global.cudart.cuModuleUnload;

import firstlight.model.CacheFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.cuda.cudart.CUctx_st;
import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.cudart.CUmod_st;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.SizeTPointer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One GPU in use by one thread. It owns what is made with it, and gives it all back when it is
 * closed, also after a failure.
 *
 * <p>No class of the bindings may be touched, and so not this one, before {@link CudaProbe} has
 * found a driver: where there is none they are broken for good.
 */
public final class Gpu implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Gpu.class);
  private static final int NAME_BYTES = 256;
  private static final String LIBRARIES = "org.bytedeco.javacpp.cachedir";

  static {
    // The bindings count the memory of the whole process against the heap, and refuse to go on.
    System.setProperty("org.bytedeco.javacpp.maxBytes", "0");
    System.setProperty("org.bytedeco.javacpp.maxPhysicalBytes", "0");
    keepLibraries();
  }

  private final int device;
  private final CUctx_st context = new CUctx_st();
  private final CUmod_st module = new CUmod_st();
  private final Map<String, CUfunc_st> functions = new HashMap<>();
  private final List<DeviceMemory> memories = new ArrayList<>();
  private final List<Pointer> pinned = new ArrayList<>();
  private final List<CublasLt> libraries = new ArrayList<>();
  private final CudaStream stream;

  /**
   * What a GPU is.
   *
   * @param major of its compute capability
   * @param minor the same
   */
  public record Nature(String name, int major, int minor, int multiprocessors) {}

  private Gpu(int device, byte[] kernels) {
    this.device = device;
    check(cuDevicePrimaryCtxRetain(context, device), "cuDevicePrimaryCtxRetain");
    try {
      check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
      try (BytePointer image = new BytePointer(kernels)) {
        check(cuModuleLoadData(module, image), "cuModuleLoadData");
      }
      stream = new CudaStream();
    } catch (RuntimeException e) {
      cuDevicePrimaryCtxRelease(device);
      throw e;
    }
  }

  /**
   * Takes a GPU into use on this thread.
   *
   * @param ordinal its number, from 0
   * @param kernels a cubin for it
   */
  public static Gpu open(int ordinal, byte[] kernels) {
    return new Gpu(device(ordinal), kernels);
  }

  public static Nature nature(int ordinal) {
    int device = device(ordinal);
    byte[] name = new byte[NAME_BYTES];
    check(cuDeviceGetName(name, name.length, device), "cuDeviceGetName");
    return new Nature(
        new String(name, StandardCharsets.UTF_8).replaceAll("\0.*", ""),
        attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
        attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
        attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  }

  /** The bindings unpack their libraries beside what else we keep, not in the user's folder. */
  private static void keepLibraries() {
    try {
      if (System.getProperty(LIBRARIES) == null) {
        System.setProperty(LIBRARIES, PrivateFolder.in(CacheFolder.ofUser(), "javacpp").toString());
      }
    } catch (IOException e) {
      LOG.warn("the libraries of the CUDA bindings are kept in their own folder: {}", e.toString());
    }
  }

  private static int device(int ordinal) {
    check(cuInit(0), "cuInit");
    int[] device = new int[1];
    check(cuDeviceGet(device, ordinal), "cuDeviceGet");
    return device[0];
  }

  private static int attribute(int attribute, int device) {
    int[] value = new int[1];
    check(cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute");
    return value[0];
  }

  /** Bytes that are free at the moment. */
  public long free() {
    try (SizeTPointer free = new SizeTPointer(1);
        SizeTPointer total = new SizeTPointer(1)) {
      check(cuMemGetInfo(free, total), "cuMemGetInfo");
      return free.get();
    }
  }

  public CudaStream stream() {
    return stream;
  }

  /**
   * Memory with anything in it.
   *
   * @param purpose for the message where there is not enough
   */
  public DeviceMemory allocate(long bytes, String purpose) {
    long[] address = new long[1];
    check(cuMemAlloc(address, bytes), "%d bytes for %s".formatted(bytes, purpose));
    DeviceMemory memory = new DeviceMemory(address[0], bytes);
    memories.add(memory);
    return memory;
  }

  /** Gives memory back before the end. */
  public void free(DeviceMemory memory) {
    memories.remove(memory);
    check(cuMemFree(memory.address()), "cuMemFree");
  }

  public PinnedMemory pin(long bytes) {
    Pointer pointer = new Pointer();
    check(cuMemAllocHost(pointer, bytes), "%d bytes of pinned memory".formatted(bytes));
    pinned.add(pointer);
    return new PinnedMemory(pointer, bytes);
  }

  /** Gives pinned memory back before the end. */
  public void free(PinnedMemory memory) {
    pinned.remove(memory.pointer());
    check(cuMemFreeHost(memory.pointer()), "cuMemFreeHost");
  }

  /**
   * Prepares a launch.
   *
   * @param kernel its name
   * @param threads of a block
   * @param argument what the kernel is told: its only parameter
   */
  public Launch prepare(String kernel, Launch.Grid grid, int threads, StructWriter argument) {
    return new Launch(
        kernel, functions.computeIfAbsent(kernel, this::function), grid, threads, argument);
  }

  /**
   * NVIDIA's products, for this GPU's stream.
   *
   * @throws CudaException it is not there, or can not be used
   */
  public CublasLt cublasLt() {
    DeviceMemory workspace = allocate(CublasLt.WORKSPACE_BYTES, "what cuBLASLt needs");
    CublasLt library = CublasLt.open(workspace);
    libraries.add(library);
    return library;
  }

  private CUfunc_st function(String kernel) {
    CUfunc_st function = new CUfunc_st();
    check(cuModuleGetFunction(function, module, kernel), "the kernel " + kernel);
    return function;
  }

  /**
   * Gives all back. After a failure the driver refuses most of these calls, and frees everything
   * itself with the last of them.
   */
  @Override
  public void close() {
    stream.close();
    libraries.forEach(CublasLt::close);
    memories.forEach(memory -> cuMemFree(memory.address()));
    pinned.forEach(pointer -> cuMemFreeHost(pointer));
    cuModuleUnload(module);
    cuDevicePrimaryCtxRelease(device);
  }

  /**
   * Makes a GPU usable again after a failed kernel: whatever this process had on it is gone. For
   * one that nobody in this process uses any more.
   */
  public static void reset(int ordinal) {
    check(cuDevicePrimaryCtxReset(device(ordinal)), "cuDevicePrimaryCtxReset");
  }
}
