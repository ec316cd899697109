package firstlight.app;

/** The node can not start, and this one sentence says why and what helps. */
final class StartFailure extends RuntimeException {
  StartFailure(String message) {
    super(message, null, false, false);
  }

  StartFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
