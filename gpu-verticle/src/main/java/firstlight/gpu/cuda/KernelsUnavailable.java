package firstlight.gpu.cuda;

/** There are no compiled kernels for a GPU. The message is for an operator: why, what to do. */
final class KernelsUnavailable extends RuntimeException {
  private static final long serialVersionUID = 1L;

  KernelsUnavailable(String message) {
    super(message, null, false, false);
  }
}
