package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.http.HttpServerRequest;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides whether a request may become a WebSocket. */
final class WebSocketUpgrade {
  private WebSocketUpgrade() {}

  /** Why not, with the status for it. */
  record Refusal(int status, MeshException failure) {}

  static boolean isAsked(HttpServerRequest request) {
    return "websocket".equalsIgnoreCase(request.getHeader("Upgrade"));
  }

  /**
   * A browser lets every page open a WebSocket to every server, also to one that asks for no key,
   * so a page must be of this server or of an origin that may call it.
   *
   * @param origins as in {@link EdgeConfig#corsOrigins}
   * @return null: it may
   */
  static @Nullable Refusal refusal(HttpServerRequest request, List<String> origins) {
    if (!isAsked(request)) {
      return new Refusal(
          426,
          new MeshException(
              FailureKind.INVALID_REQUEST,
              "upgrade_required",
              "Use POST to make a response, or connect with a WebSocket client."));
    }
    String origin = request.getHeader("Origin");
    if (origin == null || origins.contains("*") || origins.contains(origin)) {
      return null;
    }
    if (isOwn(origin, request.getHeader("Host"))) {
      return null;
    }
    return new Refusal(
        403,
        new MeshException(
            FailureKind.INVALID_REQUEST,
            "origin_not_allowed",
            "Pages of this origin may not connect. Its operator can allow them:"
                + " edge.corsOrigins."));
  }

  private static boolean isOwn(String origin, @Nullable String host) {
    try {
      return host != null && host.equalsIgnoreCase(URI.create(origin).getAuthority());
    } catch (IllegalArgumentException _) {
      return false;
    }
  }
}
