package firstlight.gpu.cuda;

import static firstlight.gpu.cuda.CublasLt.check;
import static org.bytedeco.cuda.global.cublas.CUBLASLT_MATMUL_DESC_TRANSA;
import static org.bytedeco.cuda.global.cublas.CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
import static org.bytedeco.cuda.global.cublas.CUBLAS_COMPUTE_32F;
import static org.bytedeco.cuda.global.cublas.CUBLAS_OP_T;
import static org.bytedeco.cuda.global.cublas.cublasLtMatmul;
import static org.bytedeco.cuda.global.cublas.cublasLtMatmulAlgoGetHeuristic;
import static org.bytedeco.cuda.global.cublas.cublasLtMatmulDescInit;
import static org.bytedeco.cuda.global.cublas.cublasLtMatmulDescSetAttribute;
import static org.bytedeco.cuda.global.cublas.cublasLtMatmulPreferenceInit;
import static org.bytedeco.cuda.global.cublas.cublasLtMatmulPreferenceSetAttribute;
import static org.bytedeco.cuda.global.cublas.cublasLtMatrixLayoutInit;
import static org.bytedeco.cuda.global.cudart.CUDA_R_16BF;
import static org.bytedeco.cuda.global.cudart.CUDA_R_32F;

import org.bytedeco.cuda.cublas.cublasLtContext;
import org.bytedeco.cuda.cublas.cublasLtMatmulAlgo_t;
import org.bytedeco.cuda.cublas.cublasLtMatmulDescOpaque_t;
import org.bytedeco.cuda.cublas.cublasLtMatmulHeuristicResult_t;
import org.bytedeco.cuda.cublas.cublasLtMatmulPreferenceOpaque_t;
import org.bytedeco.cuda.cublas.cublasLtMatrixLayoutOpaque_t;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.SizeTPointer;

/**
 * Weights times activations by {@link CublasLt}, prepared: how it is computed has been chosen, and
 * nothing is allocated when it runs.
 *
 * <p>The library takes matrices column by column. What we keep row by row is to it the transposed
 * matrix, so it is asked for {@code out' = weights x'} where we mean {@code out = x weights'}.
 */
public final class MatrixProduct implements StreamWork {
  private final cublasLtContext handle;
  private final DeviceMemory workspace;
  private final Pointer workspaceAt;
  private final cublasLtMatmulDescOpaque_t operation = new cublasLtMatmulDescOpaque_t();
  private final cublasLtMatrixLayoutOpaque_t weightsLayout;
  private final cublasLtMatrixLayoutOpaque_t inputLayout;
  private final cublasLtMatrixLayoutOpaque_t outLayout;
  private final Pointer weights;
  private final Pointer input;
  private final Pointer out;
  private final FloatPointer one = new FloatPointer(new float[] {1});
  private final FloatPointer zero = new FloatPointer(new float[] {0});
  private final cublasLtMatmulHeuristicResult_t chosen = new cublasLtMatmulHeuristicResult_t();
  private final cublasLtMatmulAlgo_t algorithm;

  /**
   * Addresses of the matrices, at multiples of 256, and their sizes.
   *
   * @param weights {@code [rows][columns]}, bf16
   * @param input {@code [tokens][columns]}, bf16
   * @param out {@code [tokens][rows]}, floats
   */
  public record Operands(long weights, long input, long out, int rows, int columns, int tokens) {}

  MatrixProduct(cublasLtContext handle, DeviceMemory workspace, Operands of) {
    this.handle = handle;
    this.workspace = workspace;
    workspaceAt = new RawPointer(workspace.address());
    weights = new RawPointer(of.weights);
    input = new RawPointer(of.input);
    out = new RawPointer(of.out);
    check(
        cublasLtMatmulDescInit(operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "cublasLtMatmulDescInit");
    // With a number alone instead of an array the pointer would be to so many numbers.
    try (IntPointer transposed = new IntPointer(new int[] {CUBLAS_OP_T})) {
      check(
          cublasLtMatmulDescSetAttribute(
              operation, CUBLASLT_MATMUL_DESC_TRANSA, transposed, Integer.BYTES),
          "cublasLtMatmulDescSetAttribute");
    }
    weightsLayout = layout(CUDA_R_16BF, of.columns, of.rows);
    inputLayout = layout(CUDA_R_16BF, of.columns, of.tokens);
    outLayout = layout(CUDA_R_32F, of.rows, of.tokens);
    choose(of);
    algorithm = chosen.algo();
  }

  /**
   * @param height of a column; they lie one after the other
   */
  private static cublasLtMatrixLayoutOpaque_t layout(int type, int height, int columns) {
    cublasLtMatrixLayoutOpaque_t layout = new cublasLtMatrixLayoutOpaque_t();
    check(
        cublasLtMatrixLayoutInit(layout, type, height, columns, height),
        "cublasLtMatrixLayoutInit");
    return layout;
  }

  /** The library's own choice among its ways to compute. */
  private void choose(Operands of) {
    int[] found = new int[1];
    try (cublasLtMatmulPreferenceOpaque_t preference = new cublasLtMatmulPreferenceOpaque_t();
        SizeTPointer bytes = new SizeTPointer(1)) {
      bytes.put(workspace.bytes());
      check(cublasLtMatmulPreferenceInit(preference), "cublasLtMatmulPreferenceInit");
      check(
          cublasLtMatmulPreferenceSetAttribute(
              preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, bytes, Long.BYTES),
          "cublasLtMatmulPreferenceSetAttribute");
      check(
          cublasLtMatmulAlgoGetHeuristic(
              handle,
              operation,
              weightsLayout,
              inputLayout,
              outLayout,
              outLayout,
              preference,
              1,
              chosen,
              found),
          "cublasLtMatmulAlgoGetHeuristic for " + of);
    }
    if (found[0] == 0) {
      throw new CudaException(
          CudaException.Kind.LAUNCH_FAILED, "cuBLASLt has no way to compute " + of);
    }
    check(chosen.state(), "cuBLASLt's way to compute " + of);
  }

  @Override
  public void run(CUstream_st stream) {
    // What was in the output is multiplied by zero: the library does not read it then.
    check(
        cublasLtMatmul(
            handle,
            operation,
            one,
            weights,
            weightsLayout,
            input,
            inputLayout,
            zero,
            out,
            outLayout,
            out,
            outLayout,
            algorithm,
            workspaceAt,
            workspace.bytes(),
            stream),
        "cublasLtMatmul");
  }
}
