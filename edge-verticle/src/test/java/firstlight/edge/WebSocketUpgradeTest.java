package firstlight.edge;

import static firstlight.edge.ResponsesServer.await;
import static firstlight.edge.ResponsesServer.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An upgraded connection belongs to its WebSocket alone. */
@Timeout(60)
class WebSocketUpgradeTest {
  private static final Duration IDLE = Duration.ofMillis(300);

  private final Vertx vertx = Vertx.vertx();
  private final IdleConnections idle =
      new IdleConnections(
          vertx,
          new EdgeConfig.Times(IDLE, IDLE, IDLE, IDLE, IDLE, IDLE),
          new EdgeMetrics(
              new PrometheusMeterRegistry(PrometheusConfig.DEFAULT), new EdgeModels(List.of())));
  private HttpServer server;

  @BeforeEach
  void listen() {
    server =
        await(
            vertx
                .createHttpServer()
                .connectionHandler(idle::opened)
                .requestHandler(this::answer)
                .listen(0, "127.0.0.1"));
  }

  @AfterEach
  void close() {
    await(vertx.close());
  }

  private void answer(HttpServerRequest request) {
    idle.begun(request);
    if (request.getHeader("Origin") == null) {
      request.toWebSocket();
    } else {
      request.response().setStatusCode(403).end();
    }
  }

  @Test
  void nothing_is_kept_of_a_connection_that_became_a_web_socket() throws IOException {
    try (WebSocketClient client = connect("X: y")) {
      assertThat(idle.connections()).isZero();
      client.frame(WebSocketClient.PING, true, new byte[0]);
    }
    assertThat(idle.connections()).isZero();
  }

  @Test
  void a_connection_whose_upgrade_was_refused_is_closed_when_idle() throws IOException {
    try (Socket socket = new Socket("127.0.0.1", server.actualPort())) {
      String request =
          "GET / HTTP/1.1\r\nHost: x\r\nOrigin: x\r\nConnection: Upgrade\r\n"
              + "Upgrade: websocket\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      socket.setSoTimeout(30_000);
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(answer).startsWith("HTTP/1.1 403 ");
      eventually(() -> idle.connections() == 0);
    }
  }

  private WebSocketClient connect(String header) throws IOException {
    EdgeConfig config = EdgeConfig.read(Settings.parse("open: true", _ -> null));
    return new WebSocketClient(server.actualPort(), new Json(config.limits()), 64 << 10, header);
  }
}
