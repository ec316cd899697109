package firstlight.edge;

import io.netty.handler.timeout.IdleStateHandler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.impl.HttpServerConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Closes connections on which no request has run for a while. The server's own idle timeout looks
 * at bytes only, and would cut a client that waits for a long answer in one piece; so it is taken
 * off a connection that has sent a whole request, and only guards those that have not. Also closes
 * a connection after a request that {@link HttpForm} finds doubtful.
 */
final class IdleConnections {
  private final Vertx vertx;
  private final long idleMillis;
  private final Duration stall;
  private final EdgeMetrics metrics;
  private final EdgeTotals totals;
  private final Map<HttpConnection, Use> uses = new HashMap<>();

  private static final class Use {
    private int requests;
    private boolean last;
    private boolean closed;
    private long timer;
  }

  IdleConnections(Vertx vertx, EdgeConfig.Times times, EdgeMetrics metrics) {
    this.vertx = vertx;
    this.idleMillis = times.idleTimeout().toMillis();
    this.stall = times.stallTimeout();
    this.metrics = metrics;
    this.totals = EdgeTotals.of(vertx);
  }

  void opened(HttpConnection connection) {
    if (connection instanceof HttpServerConnection server
        && server.channelHandlerContext().pipeline().get(IdleStateHandler.class) != null) {
      server.channelHandlerContext().pipeline().remove(IdleStateHandler.class);
    }
    Use use = new Use();
    remember(connection, use);
    watch(connection, use);
    connection.closeHandler(
        _ -> {
          use.closed = true;
          vertx.cancelTimer(use.timer);
          forget(connection);
        });
  }

  /**
   * A request has begun; it counts until its answer is complete.
   *
   * @return false when the connection carries no further request, this one included
   */
  boolean begun(HttpServerRequest request) {
    HttpConnection connection = request.connection();
    Use use = uses.get(connection);
    if (use != null) {
      if (use.last) {
        return false;
      }
      use.last = HttpForm.endsConnection(request);
      use.requests++;
      vertx.cancelTimer(use.timer);
      HttpServerResponse response = request.response();
      if (use.last) {
        response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      } else if (WebSocketUpgrade.isAsked(request)) {
        // A WebSocket has its own rules, and this side does not hear of its end.
        forget(connection);
      }
      // A response has room for one such handler, so answers are counted here, too.
      response.endHandler(
          _ -> {
            metrics.answered(Gate.route(request), response.getStatusCode());
            ended(connection, use);
          });
    }
    return true;
  }

  /** How many it watches. */
  int connections() {
    return uses.size();
  }

  private void ended(HttpConnection connection, Use use) {
    if (use.closed) {
      return;
    }
    if (use.last) {
      close(connection);
    } else if (--use.requests == 0) {
      remember(connection, use);
      watch(connection, use);
    }
  }

  private void remember(HttpConnection connection, Use use) {
    if (uses.put(connection, use) == null) {
      totals.add(EdgeTotals.Count.CONNECTIONS, 1);
    }
  }

  private void forget(HttpConnection connection) {
    if (uses.remove(connection) != null) {
      totals.add(EdgeTotals.Count.CONNECTIONS, -1);
    }
  }

  private void watch(HttpConnection connection, Use use) {
    vertx.cancelTimer(use.timer);
    use.timer = vertx.setTimer(idleMillis, _ -> close(connection));
  }

  /** After what was answered, as far as the peer takes it. */
  private void close(HttpConnection connection) {
    connection.close();
    Hangup.whenStuck(vertx, connection, stall);
  }
}
