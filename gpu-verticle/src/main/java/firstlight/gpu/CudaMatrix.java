package firstlight.gpu;

/**
 * Weights on a GPU: {@code [rows][rowBytes]}.
 *
 * @param address of the first row
 * @param scales of the floats that rows are multiplied by; 0: none
 * @param ranges of columns whose products are added up by themselves; {@link #RANGES}, or fewer
 *     where other GPUs have the other columns
 */
record CudaMatrix(
    long address,
    long scales,
    CudaWeightType type,
    int rows,
    int columns,
    long rowBytes,
    int ranges) {
  /** Of a whole matrix, as in {@code product.cuh}. */
  static final int RANGES = 8;

  CudaMatrix(long address, long scales, CudaWeightType type, int rows, int columns, long rowBytes) {
    this(address, scales, type, rows, columns, rowBytes, RANGES);
  }

  /** The same as a share of a matrix with more columns. */
  CudaMatrix withRanges(int count) {
    return new CudaMatrix(address, scales, type, rows, columns, rowBytes, count);
  }
}
