package firstlight.protocol;

/** The ways a request can fail; each has one HTTP status, given in one place at the edge. */
public enum FailureKind {
  INVALID_REQUEST,
  UNAUTHENTICATED,
  NOT_FOUND,
  CONFLICT,
  TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE,
  /** The tenant asks for more than is its own. */
  TENANT_LIMIT,
  /** The service is full. */
  OVERLOADED,
  /** A part that the request needs is away. */
  UNAVAILABLE,
  /** The device, or the replica with it, is gone. */
  DEVICE_LOST,
  /** A mistake of ours. */
  INTERNAL
}
