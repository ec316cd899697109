package firstlight.edge;

import firstlight.protocol.EventBody;
import firstlight.protocol.FailureDomain;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.RefusedAdmission;
import firstlight.protocol.SeenFailure;

/**
 * What Events say of failures. Mistakes of clients are none: they are metrics only, so that a
 * client that makes many fills no lake.
 */
final class FailureFacts {
  /** The kind of fact, in the ids of Events. */
  static final String KIND = "failure";

  private FailureFacts() {}

  /**
   * A request that failed.
   *
   * @param request its id
   * @param response empty when it had none yet
   * @param dialect the dialect, or the route
   * @param replica empty when none had to do with it
   * @param promptTokens as counted; 0: not known
   * @param outputMax most tokens of an answer; 0: not known
   */
  record Failed(
      String request,
      String response,
      String dialect,
      String model,
      String replica,
      int promptTokens,
      int outputMax) {

    /** What it has in no second try: a request fails once. */
    String fact() {
      return request + "\t" + response;
    }

    /** One that failed before it had a turn. */
    static Failed before(Caller caller, String dialect, String response, String model) {
      return new Failed(caller.requestId(), response, dialect, model, "", 0, 0);
    }
  }

  /** The part in which it failed. */
  static FailureDomain domain(MeshException failure) {
    return switch (failure.code()) {
      case "events_unavailable", "events_not_configured" -> FailureDomain.FEEDBACK;
      case "storage_unavailable", "session_store_unavailable", "service_unavailable" ->
          FailureDomain.SESSION;
      case "device_lost", "device_busy", "no_device" -> FailureDomain.GPU;
      case "overloaded",
          "tenant_queue_full",
          "replica_lost",
          "replica_stopped",
          "replica_stopping",
          "no_replica" ->
          FailureDomain.BATCHER;
      default -> failure.kind() == FailureKind.DEVICE_LOST ? FailureDomain.GPU : FailureDomain.EDGE;
    };
  }

  /** Whether it was not let in, rather than having failed. */
  static boolean isRefusal(MeshException failure) {
    return failure.kind() == FailureKind.OVERLOADED || failure.kind() == FailureKind.TENANT_LIMIT;
  }

  /** Whether there is an Event of it. */
  static boolean isTold(MeshException failure) {
    return switch (failure.kind()) {
      case OVERLOADED, TENANT_LIMIT, UNAVAILABLE, DEVICE_LOST, INTERNAL -> true;
      default -> false;
    };
  }

  /**
   * The fact, of a failure that is told.
   *
   * @param message as it may be kept
   */
  static EventBody body(Failed failed, MeshException failure, String message) {
    if (isRefusal(failure)) {
      return new RefusedAdmission(
          failed.request(),
          failed.response(),
          failed.dialect(),
          failed.model(),
          domain(failure),
          failure.code(),
          failed.promptTokens(),
          failed.outputMax(),
          failure.retryAfterMillis(),
          Errors.status(failure));
    }
    return new SeenFailure(
        failed.request(),
        failed.response(),
        failed.dialect(),
        failed.model(),
        failed.replica(),
        domain(failure),
        failure.kind(),
        failure.code(),
        message,
        Errors.status(failure),
        failure.retryAfterMillis());
  }
}
