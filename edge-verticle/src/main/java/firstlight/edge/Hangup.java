package firstlight.edge;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.impl.HttpServerConnection;
import java.time.Duration;

/**
 * Ends connections whose peers read nothing. Vert.x 5.0.7 closes a connection only once all that
 * was written to it before has left, which such a peer prevents for ever; what it holds would be
 * kept as long, and is counted nowhere any more.
 */
final class Hangup {
  private Hangup() {}

  /** Ends the answer where it is: over HTTP/1 that takes its connection with it. */
  static void reset(HttpServerRequest request) {
    if (request.version() != HttpVersion.HTTP_2
        && request.connection() instanceof HttpServerConnection connection) {
      end(connection.channelHandlerContext().channel());
    } else {
      request.response().reset();
    }
  }

  /**
   * To be called after a connection, or the WebSocket that it became, was closed: ends it when none
   * of what waits leaves for a while.
   */
  static void whenStuck(Vertx vertx, HttpConnection closed, Duration patience) {
    if (closed instanceof HttpServerConnection connection) {
      whenStuck(vertx, connection.channelHandlerContext().channel(), patience);
    }
  }

  private static void whenStuck(Vertx vertx, Channel channel, Duration patience) {
    long before = waiting(channel);
    long timer =
        vertx.setTimer(
            patience.toMillis(),
            _ -> {
              long now = waiting(channel);
              if (now > 0 && now >= before) {
                end(channel);
              } else if (channel.isOpen()) {
                whenStuck(vertx, channel, patience);
              }
            });
    channel.closeFuture().addListener(_ -> vertx.cancelTimer(timer));
  }

  /** In bytes. */
  private static long waiting(Channel channel) {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    return buffer == null ? 0 : buffer.totalPendingWriteBytes();
  }

  /** Past all handlers: those of Vert.x would wait. */
  private static void end(Channel channel) {
    channel.eventLoop().execute(() -> channel.unsafe().close(channel.newPromise()));
  }
}
