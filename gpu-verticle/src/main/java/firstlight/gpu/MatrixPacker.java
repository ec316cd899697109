package firstlight.gpu;

import static firstlight.gpu.Lanes.PAIR;

import firstlight.model.Tensor;
import firstlight.model.TensorType;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Packs tensors into matrices. Afterwards the file is not needed. */
final class MatrixPacker {
  private final GpuConfig.Kernels kernels;
  private final boolean natively;

  MatrixPacker(GpuConfig.Kernels kernels, boolean natively) {
    this.kernels = kernels;
    this.natively = natively;
  }

  Matrix pack(Tensor tensor) {
    return pack(tensor, IntUnaryOperator.identity());
  }

  /**
   * @param source which row of the tensor becomes a row of the matrix
   */
  Matrix pack(Tensor tensor, IntUnaryOperator source) {
    if (kernels == GpuConfig.Kernels.FLOAT32 || !QuantisedRow.isQuantised(tensor.type())) {
      return floats(tensor, source);
    }
    return quantised(tensor, source);
  }

  /** A tensor that is one row of floats. */
  static float[] vector(Tensor tensor) {
    float[] vector = new float[tensor.columns()];
    tensor.dequantize(0, vector, 0);
    return vector;
  }

  private static Matrix floats(Tensor tensor, IntUnaryOperator source) {
    int rows = Math.toIntExact(tensor.rows());
    FloatMatrix matrix = new FloatMatrix(rows, tensor.columns());
    forEachPair(
        rows,
        (from, to) -> {
          float[] floats = new float[tensor.columns()];
          for (int row = from; row < to; row++) {
            tensor.dequantize(source.applyAsInt(row), floats, 0);
            matrix.pack(row, floats);
          }
        });
    return matrix;
  }

  private Matrix quantised(Tensor tensor, IntUnaryOperator source) {
    int rows = Math.toIntExact(tensor.rows());
    QuantisedMatrix matrix = empty(tensor.type(), rows, tensor.columns());
    forEachPair(
        rows,
        (from, to) -> {
          QuantisedRow quantised = new QuantisedRow(tensor.columns());
          for (int row = from; row < to; row++) {
            quantised.read(tensor, source.applyAsInt(row));
            matrix.pack(row, quantised);
          }
        });
    return matrix;
  }

  private QuantisedMatrix empty(TensorType type, int rows, int columns) {
    return switch (type) {
      case Q4_0, Q4_1, Q4_K -> new NibbleMatrix(rows, columns, type, natively);
      case Q5_0 -> new FiveBitMatrix(ByteMatrix.shape(rows, columns, natively));
      case Q5_1, Q5_K, Q6_K -> new SixBitMatrix(ByteMatrix.shape(rows, columns, natively), type);
      case Q8_0 -> new EightBitMatrix(ByteMatrix.shape(rows, columns, natively));
      case F32, F16, BF16 -> throw new IllegalArgumentException(type + " is not quantised");
    };
  }

  /** Rows of one pair lie beside each other in memory, so a pair is packed by one thread. */
  private static void forEachPair(int rows, RowRange range) {
    IntStream.range(0, Lanes.pairs(rows))
        .parallel()
        .forEach(pair -> range.pack(pair * PAIR, Math.min(rows, pair * PAIR + PAIR)));
  }

  private interface RowRange {
    void pack(int from, int to);
  }
}
