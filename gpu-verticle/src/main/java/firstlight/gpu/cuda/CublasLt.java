package firstlight.gpu.cuda;

import static org.bytedeco.cuda.global.cublas.CUBLAS_STATUS_ALLOC_FAILED;
import static org.bytedeco.cuda.global.cublas.CUBLAS_STATUS_SUCCESS;
import static org.bytedeco.cuda.global.cublas.cublasLtCreate;
import static org.bytedeco.cuda.global.cublas.cublasLtDestroy;
import static org.bytedeco.cuda.global.cublas.cublasLtGetStatusName;

import java.util.List;
import java.util.Optional;
import org.bytedeco.cuda.cublas.cublasLtContext;

/**
 * NVIDIA's library of matrix products, for one GPU. It adds in an order of its own, which changes
 * with the sizes, with the kind of GPU and with the library's version.
 *
 * <p>The classes of its bindings break for good where the library is missing, as those of the
 * driver do, so none is touched before {@link #unavailable} has found it.
 */
public final class CublasLt implements AutoCloseable {
  static final String LIBRARY = "libcublasLt.so.13";

  /** The bindings are one library of ours for both of NVIDIA's, and do not load without this. */
  static final String COMPANION = "libcublas.so.13";

  /** What NVIDIA advises for GPUs of compute capability 9.0; older ones need less. */
  static final long WORKSPACE_BYTES = 32L << 20;

  private final cublasLtContext handle = new cublasLtContext();
  private final DeviceMemory workspace;

  private CublasLt(DeviceMemory workspace) {
    this.workspace = workspace;
    check(cublasLtCreate(handle), "cublasLtCreate");
  }

  /**
   * For the GPU that this thread has in use.
   *
   * @param workspace which products use one after the other, so they share a stream
   */
  static CublasLt open(DeviceMemory workspace) {
    Optional<String> reason = unavailable();
    if (reason.isPresent()) {
      throw new CudaException(CudaException.Kind.LOST, reason.get());
    }
    return new CublasLt(workspace);
  }

  /** Why it can not be used here, and what helps; empty: it can. */
  public static Optional<String> unavailable() {
    return unavailable(List.of(LIBRARY, COMPANION));
  }

  /**
   * @param libraries names or paths
   */
  static Optional<String> unavailable(List<String> libraries) {
    return libraries.stream()
        .filter(library -> ForeignLibrary.open(library).isEmpty())
        .findFirst()
        .map(
            library ->
                library
                    + " was not found: install cuBLAS for CUDA 13 and put its folder on"
                    + " LD_LIBRARY_PATH, or set gpu.cuda.products to own");
  }

  /** A product that can be given to the GPU's stream again and again. */
  public MatrixProduct prepare(MatrixProduct.Operands of) {
    return new MatrixProduct(handle, workspace, of);
  }

  static void check(int status, String call) {
    if (status != CUBLAS_STATUS_SUCCESS) {
      CudaException.Kind kind =
          status == CUBLAS_STATUS_ALLOC_FAILED
              ? CudaException.Kind.OUT_OF_MEMORY
              : CudaException.Kind.LAUNCH_FAILED;
      String name = cublasLtGetStatusName(status).getString();
      throw new CudaException(kind, "%s: %s (%d)".formatted(call, name, status));
    }
  }

  /** Whatever the library says: after a failure of the GPU it can do nothing. */
  @Override
  public void close() {
    cublasLtDestroy(handle);
  }
}
