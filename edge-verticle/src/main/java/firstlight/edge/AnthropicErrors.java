package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.ext.web.RoutingContext;

/** Failures in the shape that clients of Anthropic's API expect on its routes. */
final class AnthropicErrors {
  static final String REQUEST_ID = "request-id";

  private static final String ROUTES = "/v1/messages";
  private static final int OVERLOADED = 529;

  private AnthropicErrors() {}

  /** Whether a request is for one of Anthropic's routes, or for a path under them. */
  static boolean expected(RoutingContext http) {
    String path = String.valueOf(http.request().path());
    return path.equals(ROUTES) || path.startsWith(ROUTES + "/");
  }

  /**
   * @param status what it is elsewhere
   */
  static int status(MeshException failure, int status) {
    return failure.kind() == FailureKind.OVERLOADED ? OVERLOADED : status;
  }

  /** {@code {"type": "error", "error": {"type", "message"}, "request_id"}}. */
  static ObjectNode body(MeshException failure, String requestId) {
    ObjectNode body = Json.object().put("type", "error");
    body.putObject("error").put("type", type(failure)).put("message", failure.getMessage());
    return body.put("request_id", requestId);
  }

  private static String type(MeshException failure) {
    return switch (failure.kind()) {
      case UNAUTHENTICATED -> "authentication_error";
      case NOT_FOUND -> "not_found_error";
      case TOO_LARGE -> "request_too_large";
      case TENANT_LIMIT -> "rate_limit_error";
      case OVERLOADED -> "overloaded_error";
      case UNAVAILABLE, DEVICE_LOST, INTERNAL -> "api_error";
      case INVALID_REQUEST, CONFLICT, UNSUPPORTED_MEDIA_TYPE -> "invalid_request_error";
    };
  }
}
