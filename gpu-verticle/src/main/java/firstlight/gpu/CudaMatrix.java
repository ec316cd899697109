package firstlight.gpu;

/**
 * Weights on a GPU: {@code [rows][rowBytes]}.
 *
 * @param address of the first row
 * @param scales of the floats that rows are multiplied by; 0: none
 */
record CudaMatrix(
    long address, long scales, CudaWeightType type, int rows, int columns, long rowBytes) {}
