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
    return rows(tensor, new Shard.Span(0, Math.toIntExact(tensor.rows())));
  }

  /** Some of its rows. */
  CudaMatrix rows(Tensor tensor, Shard.Span rows) {
    return chosen(raw(tensor, new Part(rows, new Shard.Span(0, tensor.columns()))));
  }

  /** A share of its columns, which has as many of the ranges of columns. */
  CudaMatrix columns(Tensor tensor, Shard shard) {
    Shard.Span rows = new Shard.Span(0, Math.toIntExact(tensor.rows()));
    return chosen(raw(tensor, new Part(rows, shard.of(tensor.columns()))))
        .withRanges(CudaMatrix.RANGES / shard.count());
  }

  /** Of a tensor. */
  private record Part(Shard.Span rows, Shard.Span columns) {}

  private CudaMatrix chosen(CudaMatrix raw) {
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

  private CudaMatrix raw(Tensor tensor, Part part) {
    int rows = part.rows.count();
    int columns = part.columns.count();
    Optional<CudaWeightType> same = CudaWeightType.of(tensor.type());
    CudaWeightType type = same.orElse(CudaWeightType.BF16);
    long rowBytes = type.rowBytes(columns);
    DeviceMemory memory = gpu.allocate(rows * rowBytes, tensor.name());
    if (same.isEmpty()) {
      inPieces(memory, rows, rowBytes, new Narrowing(tensor, part));
    } else if (columns == tensor.columns()) {
      upload(tensor.data().asSlice(part.rows.first() * rowBytes, rows * rowBytes), memory, 0);
    } else {
      long wholeBytes = type.rowBytes(tensor.columns());
      long skipped = type.rowBytes(part.columns.first());
      inPieces(
          memory,
          rows,
          rowBytes,
          (row, to) ->
              to.copyFrom(
                  tensor
                      .data()
                      .asSlice((part.rows.first() + row) * wholeBytes + skipped, rowBytes)));
    }
    return new CudaMatrix(memory.address(), 0, type, rows, columns, rowBytes);
  }

  /** Makes a row of what a GPU gets. */
  private interface RowMaker {
    void make(int row, MemorySegment to);
  }

  /** Floats to bf16. */
  private static final class Narrowing implements RowMaker {
    private final Tensor tensor;
    private final Part part;
    private final float[] floats;

    Narrowing(Tensor tensor, Part part) {
      this.tensor = tensor;
      this.part = part;
      floats = new float[tensor.columns()];
    }

    @Override
    public void make(int row, MemorySegment to) {
      tensor.dequantize(part.rows.first() + row, floats, 0);
      for (int i = 0; i < part.columns.count(); i++) {
        to.setAtIndex(ValueLayout.JAVA_SHORT, i, Bf16.of(floats[part.columns.first() + i]));
      }
    }
  }

  /** As many rows at a time as make a piece. */
  private void inPieces(DeviceMemory to, int rows, long rowBytes, RowMaker maker) {
    int most = Math.clamp(PIECE_BYTES / rowBytes, 1, rows);
    MemorySegment piece = MemorySegment.ofArray(new long[(int) ((most * rowBytes + 7) / 8)]);
    for (int first = 0; first < rows; first += most) {
      int count = Math.min(most, rows - first);
      for (int row = 0; row < count; row++) {
        maker.make(first + row, piece.asSlice(row * rowBytes, rowBytes));
      }
      upload(piece.asSlice(0, count * rowBytes), to, first * rowBytes);
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
