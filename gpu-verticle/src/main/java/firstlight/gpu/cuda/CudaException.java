package firstlight.gpu.cuda;

import static org.bytedeco.cuda.global.cudart.CUDA_ERROR_ILLEGAL_ADDRESS;
import static org.bytedeco.cuda.global.cudart.CUDA_ERROR_ILLEGAL_INSTRUCTION;
import static org.bytedeco.cuda.global.cudart.CUDA_ERROR_INVALID_VALUE;
import static org.bytedeco.cuda.global.cudart.CUDA_ERROR_LAUNCH_FAILED;
import static org.bytedeco.cuda.global.cudart.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
import static org.bytedeco.cuda.global.cudart.CUDA_ERROR_LAUNCH_TIMEOUT;
import static org.bytedeco.cuda.global.cudart.CUDA_ERROR_MISALIGNED_ADDRESS;
import static org.bytedeco.cuda.global.cudart.CUDA_ERROR_OUT_OF_MEMORY;
import static org.bytedeco.cuda.global.cudart.CUDA_SUCCESS;
import static org.bytedeco.cuda.global.cudart.cuGetErrorName;

import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerPointer;

/** A call of the CUDA driver that did not succeed. */
public final class CudaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What that means for the device. */
  public enum Kind {
    /** There was no room; what was there before is as it was. */
    OUT_OF_MEMORY,
    /** A kernel failed, and everything the device held for this process is gone. */
    LAUNCH_FAILED,
    /** The device does not answer any more. */
    LOST
  }

  private final Kind kind;

  CudaException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }

  /**
   * @param result the driver's CUresult
   * @param call what was tried, for the message
   */
  static void check(int result, String call) {
    if (result != CUDA_SUCCESS) {
      throw new CudaException(kind(result), "%s: %s (%d)".formatted(call, name(result), result));
    }
  }

  private static Kind kind(int result) {
    return switch (result) {
      case CUDA_ERROR_OUT_OF_MEMORY -> Kind.OUT_OF_MEMORY;
      case CUDA_ERROR_LAUNCH_FAILED,
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
          CUDA_ERROR_LAUNCH_TIMEOUT,
          CUDA_ERROR_ILLEGAL_ADDRESS,
          CUDA_ERROR_ILLEGAL_INSTRUCTION,
          CUDA_ERROR_MISALIGNED_ADDRESS,
          CUDA_ERROR_INVALID_VALUE ->
          Kind.LAUNCH_FAILED;
      default -> Kind.LOST;
    };
  }

  private static String name(int result) {
    try (PointerPointer<BytePointer> name = new PointerPointer<>(1)) {
      return cuGetErrorName(result, name) == CUDA_SUCCESS
          ? name.get(BytePointer.class, 0).getString()
          : "an unknown error";
    }
  }
}
