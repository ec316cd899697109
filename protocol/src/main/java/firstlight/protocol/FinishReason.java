package firstlight.protocol;

/** Why a generation ended. */
public enum FinishReason {
  /** The model ended its turn. */
  END,
  /** A stop string of the request was met. */
  STOP,
  /** The most output tokens asked for, or the context's end. */
  LENGTH,
  /** Nobody wants it any more. */
  CANCELLED
}
