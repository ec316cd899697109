package firstlight.gpu;

import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.PinnedMemory;
import firstlight.model.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings tensors to a GPU, through pinned memory, a piece at a time. Tells how far it is now and
 * then, since tens of gigabytes take a while.
 */
final class WeightUpload implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WeightUpload.class);
  private static final long PIECE_BYTES = 8L << 20;
  private static final long TOLD_EVERY_BYTES = 1L << 30;

  private final Gpu gpu;
  private final CudaConfig.Weights choice;
  private final long wholeBytes;
  private final PinnedMemory staging;
  private long bytes;
  private long toldBytes;

  /**
   * @param wholeBytes of all that will come, to tell how far it is
   */
  WeightUpload(Gpu gpu, CudaConfig.Weights choice, long wholeBytes) {
    this.gpu = gpu;
    this.choice = choice;
    this.wholeBytes = wholeBytes;
    staging = gpu.pin(PIECE_BYTES);
  }

  /** A matrix in the form that was chosen. */
  CudaMatrix matrix(Tensor tensor) {
    CudaMatrix raw = raw(tensor);
    return switch (choice) {
      case FILE -> raw;
      case BF16 -> raw.type() == CudaWeightType.BF16 ? raw : converted(raw, CudaWeightType.BF16);
      case FP8 -> converted(raw, CudaWeightType.FP8);
    };
  }

  /** A tensor of one row as floats: its address. */
  long vector(Tensor tensor) {
    return floats(MatrixPacker.vector(tensor), tensor.name());
  }

  long floats(float[] floats, String purpose) {
    DeviceMemory memory = gpu.allocate((long) floats.length * Float.BYTES, purpose);
    upload(MemorySegment.ofArray(floats), memory, 0);
    return memory.address();
  }

  private CudaMatrix raw(Tensor tensor) {
    int rows = Math.toIntExact(tensor.rows());
    Optional<CudaWeightType> same = CudaWeightType.of(tensor.type());
    CudaWeightType type = same.orElse(CudaWeightType.BF16);
    long rowBytes = type.rowBytes(tensor.columns());
    DeviceMemory memory = gpu.allocate(rows * rowBytes, tensor.name());
    if (same.isPresent()) {
      upload(tensor.data(), memory, 0);
    } else {
      narrowed(tensor, memory, rowBytes);
    }
    return new CudaMatrix(memory.address(), 0, type, rows, tensor.columns(), rowBytes);
  }

  /** Floats to bf16, as many rows at a time as make a piece. */
  private void narrowed(Tensor tensor, DeviceMemory to, long rowBytes) {
    int columns = tensor.columns();
    int most = (int) Math.clamp(PIECE_BYTES / rowBytes, 1, tensor.rows());
    float[] floats = new float[columns];
    short[] piece = new short[most * columns];
    for (long first = 0; first < tensor.rows(); first += most) {
      int count = (int) Math.min(most, tensor.rows() - first);
      for (int row = 0; row < count; row++) {
        tensor.dequantize(first + row, floats, 0);
        for (int i = 0; i < columns; i++) {
          piece[row * columns + i] = Bf16.of(floats[i]);
        }
      }
      upload(MemorySegment.ofArray(piece).asSlice(0, count * rowBytes), to, first * rowBytes);
    }
  }

  /** The same weights in another type; what they were is freed. */
  CudaMatrix converted(CudaMatrix raw, CudaWeightType type) {
    long rowBytes = type.rowBytes(raw.columns());
    DeviceMemory to = gpu.allocate(raw.rows() * rowBytes, "converted weights");
    long scales =
        type == CudaWeightType.FP8
            ? gpu.allocate((long) raw.rows() * Float.BYTES, "scales").address()
            : 0;
    KernelArguments.Convert told = new KernelArguments.Convert(to.address(), scales, raw);
    Kernels kernels = new Kernels(gpu);
    gpu.stream().launch(type == CudaWeightType.FP8 ? kernels.narrow(told) : kernels.widen(told));
    gpu.stream().await();
    gpu.free(new DeviceMemory(raw.address(), raw.rows() * raw.rowBytes()));
    return new CudaMatrix(to.address(), scales, type, raw.rows(), raw.columns(), rowBytes);
  }

  private void upload(MemorySegment from, DeviceMemory to, long offset) {
    for (long at = 0; at < from.byteSize(); at += PIECE_BYTES) {
      long length = Math.min(PIECE_BYTES, from.byteSize() - at);
      MemorySegment.copy(
          from.asSlice(at, length),
          ValueLayout.JAVA_BYTE,
          0,
          staging.segment(),
          ValueLayout.JAVA_BYTE,
          0,
          length);
      gpu.stream().upload(staging, 0, to, offset + at, length);
      // The staging memory is used again.
      gpu.stream().await();
    }
    bytes += from.byteSize();
    if (bytes - toldBytes >= TOLD_EVERY_BYTES) {
      toldBytes = bytes;
      LOG.info("{} of {} MiB of weights are on the GPU", bytes >> 20, wholeBytes >> 20);
    }
  }

  @Override
  public void close() {
    gpu.free(staging);
  }
}
