package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one place where a failure becomes an HTTP status and an error object: in OpenAI's shape, on
 * Anthropic's routes in theirs.
 */
final class Errors {
  /** The code of what is refused because the edge stops. */
  static final String SHUTTING_DOWN = "shutting_down";

  private static final Logger LOG = LoggerFactory.getLogger(Errors.class);
  private static final long RETRY_MILLIS_DEFAULT = 1_000;

  private Errors() {}

  /**
   * What a client may be told of any failure. One that is not a {@link MeshException} is a mistake
   * of ours: it is logged with its stack and told to nobody.
   */
  static MeshException tellable(Throwable failure) {
    if (failure instanceof MeshException known) {
      return known;
    }
    LOG.error("a request failed in a way that nobody foresaw", failure);
    return new MeshException(
        FailureKind.INTERNAL,
        "internal_error",
        "The server made a mistake. It has been logged; the request may be tried again.");
  }

  static int status(MeshException failure) {
    return switch (failure.kind()) {
      case INVALID_REQUEST -> 400;
      case UNAUTHENTICATED -> 401;
      case NOT_FOUND -> 404;
      case CONFLICT -> 409;
      case TOO_LARGE -> 413;
      case UNSUPPORTED_MEDIA_TYPE -> 415;
      case TENANT_LIMIT -> 429;
      case OVERLOADED, UNAVAILABLE, DEVICE_LOST -> 503;
      case INTERNAL -> 500;
    };
  }

  /** The word for {@code error.type}. */
  static String type(MeshException failure) {
    return switch (failure.kind()) {
      case TENANT_LIMIT -> "rate_limit_error";
      case OVERLOADED, UNAVAILABLE, DEVICE_LOST, INTERNAL -> "server_error";
      default -> "invalid_request_error";
    };
  }

  /** The error object alone: message, type, param, code. */
  static ObjectNode error(MeshException failure) {
    return Json.object()
        .put("message", failure.getMessage())
        .put("type", type(failure))
        .put("param", failure.param())
        .put("code", failure.code());
  }

  /** {@code {"error": …}} as the body of an answer. */
  static ObjectNode body(MeshException failure) {
    ObjectNode body = Json.object();
    body.set("error", error(failure));
    return body;
  }

  /** {@code {"error": …}} as the last event of a stream, whose headers are sent already. */
  static ObjectNode event(MeshException failure) {
    ObjectNode body = body(failure);
    addHeaders(failure, (ObjectNode) body.get("error"));
    return body;
  }

  /** Puts into an error what would have been headers: {@code headers} of Open Responses. */
  static void addHeaders(MeshException failure, ObjectNode error) {
    Map<String, String> headers = retryHeaders(failure);
    if (!headers.isEmpty()) {
      headers.forEach(error.putObject("headers")::put);
    }
  }

  /** When to come again, of a failure that another try may not meet: both from one figure. */
  private static Map<String, String> retryHeaders(MeshException failure) {
    int status = status(failure);
    if (status != 429 && status != 503) {
      return Map.of();
    }
    long millis =
        failure.retryAfterMillis() > 0 ? failure.retryAfterMillis() : RETRY_MILLIS_DEFAULT;
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Retry-After", String.valueOf(Math.ceilDiv(millis, 1_000)));
    headers.put("retry-after-ms", String.valueOf(millis));
    return headers;
  }

  /** As {@link #answer(RoutingContext, Throwable)}, of a failure that a turn tells of. */
  static void answerTurn(RoutingContext request, MeshException failure) {
    answer(request, status(failure), failure);
  }

  /** Answers a request that has failed. Closes the stream instead when its head is already sent. */
  static void answer(RoutingContext request, Throwable failure) {
    MeshException told = tellable(failure);
    FailureEvents.answered(request, told);
    answer(request, status(told), told);
  }

  /** As {@link #answer(RoutingContext, Throwable)}, with a status that no kind of failure has. */
  static void answer(RoutingContext request, int status, MeshException failure) {
    HttpServerResponse response = request.response();
    if (response.ended() || response.closed()) {
      return;
    }
    if (response.headWritten()) {
      Hangup.reset(request.request());
      return;
    }
    if (failure.code().equals(SHUTTING_DOWN)) {
      // The client's next request should come to another edge.
      response.putHeader("Connection", "close");
    }
    if (status == 401) {
      response.putHeader("WWW-Authenticate", "Bearer");
    }
    retryHeaders(failure).forEach(response::putHeader);
    boolean anthropic = AnthropicErrors.expected(request);
    response
        .setStatusCode(anthropic ? AnthropicErrors.status(failure, status) : status)
        .putHeader("Content-Type", "application/json")
        .end(
            Json.bytes(
                anthropic
                    ? AnthropicErrors.body(failure, Caller.of(request).requestId())
                    : body(failure)));
  }
}
