package firstlight.edge;

import io.vertx.core.http.HttpServerOptions;
import java.time.Duration;

/**
 * What a WebSocket may take.
 *
 * @param connectionsMax connections of one edge instance
 * @param life a connection's longest time, whatever it does
 * @param ping how often it is asked for a sign of life
 * @param silence how long it may give none; with {@code ping} and the server's time for closing
 *     this is how long a peer that vanished keeps anything: under a minute
 * @param stall how long it may read nothing of what it is sent
 * @param closing how long it may read nothing, or not close, once this side has closed
 * @param messageBytesMax bytes of one message; a longer one closes the connection with 1009
 * @param waitingMax response.create messages that wait for the one that is worked on
 * @param writeQueueBytes bytes that wait for a slow reader before its turn pauses
 * @param rememberedCharactersMax characters of Items that are kept for the connection alone
 */
record WebSocketLimits(
    int connectionsMax,
    Duration life,
    Duration ping,
    Duration silence,
    Duration stall,
    Duration closing,
    int messageBytesMax,
    int waitingMax,
    int writeQueueBytes,
    int rememberedCharactersMax) {
  private static final int CONNECTIONS_MAX = 8_192;
  private static final Duration CLOSING = Duration.ofSeconds(5);
  private static final Duration LIFE = Duration.ofMinutes(60);
  private static final Duration PING = Duration.ofSeconds(10);
  private static final Duration SILENCE = Duration.ofSeconds(30);
  private static final int WAITING_MAX = 16;

  static WebSocketLimits of(EdgeConfig config) {
    return new WebSocketLimits(
        CONNECTIONS_MAX,
        LIFE,
        PING,
        SILENCE,
        config.times().stallTimeout(),
        CLOSING,
        config.limits().bodyBytesMax(),
        WAITING_MAX,
        config.limits().writeQueueBytes(),
        config.limits().promptCharactersMax());
  }

  /**
   * What the server itself has to know. Messages are joined here, so it need not limit them. Its
   * limit for frames is higher than that of a message, because it breaks the connection at once: a
   * client that is still sending then sees a reset and not the reason. A compressed message could
   * be a thousand times as long as it looks, so there are none.
   */
  HttpServerOptions configure(HttpServerOptions options) {
    return options
        .setMaxWebSocketFrameSize(2 * messageBytesMax)
        .setMaxWebSocketMessageSize(Integer.MAX_VALUE)
        .setPerMessageWebSocketCompressionSupported(false)
        .setPerFrameWebSocketCompressionSupported(false)
        .setWebSocketClosingTimeout((int) Math.ceilDiv(closing.toMillis(), 1_000L));
  }
}
