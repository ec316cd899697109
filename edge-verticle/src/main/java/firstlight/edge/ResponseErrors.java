package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;

/** Failures in the words of Open Responses, where they are part of a stream of events. */
final class ResponseErrors {
  static final String PREVIOUS_NOT_FOUND = "previous_response_not_found";

  private ResponseErrors() {}

  /** The specification's ErrorPayload: all of type, code, message and param, perhaps headers. */
  static ObjectNode payload(MeshException failure) {
    ObjectNode payload = Errors.error(failure).put("type", type(failure));
    Errors.addHeaders(failure, payload);
    return payload;
  }

  /** What a WebSocket says of a turn that failed before it had any event. */
  static ObjectNode frame(MeshException failure) {
    return fill(Json.object().put("type", "error"), failure);
  }

  /** What a stream says of a failure, at its next number. */
  static ObjectNode event(long number, MeshException failure) {
    return fill(Json.object().put("type", "error").put("sequence_number", number), failure);
  }

  /** Puts the failure into an error event. */
  static ObjectNode fill(ObjectNode event, MeshException failure) {
    event.put("status", Errors.status(failure)).set("error", payload(failure));
    return event;
  }

  static MeshException previousNotFound(String id) {
    return new MeshException(
        FailureKind.NOT_FOUND,
        PREVIOUS_NOT_FOUND,
        "The previous response '%s' does not exist. Send the whole conversation as input instead."
            .formatted(EdgeModels.shown(id)),
        "previous_response_id",
        0);
  }

  static MeshException responseNotFound(String id) {
    return new MeshException(
        FailureKind.NOT_FOUND,
        "response_not_found",
        "The response '%s' does not exist.".formatted(EdgeModels.shown(id)),
        "response_id",
        0);
  }

  /** For whoever waits for the first event of a Response that has none. */
  static MeshException cancelled(ResponseId response) {
    return new MeshException(
        FailureKind.CONFLICT,
        "response_cancelled",
        "The response '%s' was cancelled before it began.".formatted(response));
  }

  /** An id from a client, which perhaps no Response can have. */
  static ResponseId id(String text, MeshException otherwise) {
    try {
      return new ResponseId(text);
    } catch (IllegalArgumentException _) {
      throw otherwise;
    }
  }

  private static String type(MeshException failure) {
    return switch (failure.kind()) {
      case NOT_FOUND -> "not_found";
      case TENANT_LIMIT -> "too_many_requests";
      case DEVICE_LOST -> "model_error";
      case OVERLOADED, UNAVAILABLE, INTERNAL -> "server_error";
      case INVALID_REQUEST, UNAUTHENTICATED, CONFLICT, TOO_LARGE, UNSUPPORTED_MEDIA_TYPE ->
          "invalid_request";
    };
  }
}
