package firstlight.lake;

/** The lake can not be read, and this one sentence says why and what helps. */
public final class LakeFailure extends RuntimeException {
  public LakeFailure(String message) {
    super(message, null, false, false);
  }

  public LakeFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
