package firstlight.gpu;

import firstlight.model.Tensor;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Packs tensors into matrices. Afterwards the file is not needed. */
final class MatrixPacker {
  private final GpuConfig.Kernels kernels;

  MatrixPacker(GpuConfig.Kernels kernels) {
    this.kernels = kernels;
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
    return QuantisedRow.isNibble(tensor.type()) ? nibbles(tensor, source) : bytes(tensor, source);
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
    forEachGroup(
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

  private static Matrix nibbles(Tensor tensor, IntUnaryOperator source) {
    int rows = Math.toIntExact(tensor.rows());
    NibbleMatrix matrix = new NibbleMatrix(rows, tensor.columns());
    packRows(tensor, source, matrix::pack);
    return matrix;
  }

  private static Matrix bytes(Tensor tensor, IntUnaryOperator source) {
    int rows = Math.toIntExact(tensor.rows());
    ByteMatrix matrix = new ByteMatrix(rows, tensor.columns(), tensor.type());
    packRows(tensor, source, matrix::pack);
    return matrix;
  }

  private static void packRows(Tensor tensor, IntUnaryOperator source, QuantisedSink sink) {
    forEachGroup(
        Math.toIntExact(tensor.rows()),
        (from, to) -> {
          QuantisedRow quantised = new QuantisedRow(tensor.columns());
          for (int row = from; row < to; row++) {
            quantised.read(tensor, source.applyAsInt(row));
            sink.pack(row, quantised);
          }
        });
  }

  /** Takes a row of the packed form. */
  @FunctionalInterface
  private interface QuantisedSink {
    void pack(int row, QuantisedRow quantised);
  }

  /** Rows of one group lie beside each other in memory, so a group is packed by one thread. */
  private static void forEachGroup(int rows, RowRange range) {
    IntStream.range(0, Lanes.groups(rows))
        .parallel()
        .forEach(
            group ->
                range.pack(group * Lanes.COUNT, Math.min(rows, group * Lanes.COUNT + Lanes.COUNT)));
  }

  private interface RowRange {
    void pack(int from, int to);
  }
}
