package firstlight.gpu;

/** The device that is asked for is not there; the message says why, and what helps. */
public final class NoSuchDevice extends RuntimeException {
  private static final long serialVersionUID = 1;

  NoSuchDevice(String message) {
    super(message);
  }
}
