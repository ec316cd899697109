package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Requests in HTTP/1 whose end another server on the way might have seen elsewhere. The server's
 * decoder drops Content-Length beside Transfer-Encoding without a word, so after any request with a
 * transfer coding the connection is closed: bytes that follow never become a request.
 */
final class HttpForm {
  private HttpForm() {}

  /** Whether the connection must not carry another request. */
  static boolean endsConnection(HttpServerRequest request) {
    return request.version() != HttpVersion.HTTP_2
        && (request.headers().contains(HttpHeaders.TRANSFER_ENCODING) || problem(request) != null);
  }

  /** Why the request is refused; null when it is clean. */
  static @Nullable MeshException problem(HttpServerRequest request) {
    if (request.version() == HttpVersion.HTTP_2) {
      return null;
    }
    List<String> codings = request.headers().getAll(HttpHeaders.TRANSFER_ENCODING);
    if (codings.size() > 1
        || (codings.size() == 1 && !codings.getFirst().trim().equalsIgnoreCase("chunked"))) {
      return refused("Transfer-Encoding must be chunked, once.");
    }
    if (request.headers().getAll(HttpHeaders.HOST).size() > 1) {
      return refused("Host must stand once.");
    }
    if (!request.uri().startsWith("/") && !request.uri().equals("*")) {
      return refused("The target must be a path.");
    }
    return null;
  }

  private static MeshException refused(String message) {
    return new MeshException(FailureKind.INVALID_REQUEST, "invalid_http", message);
  }
}
