package firstlight.edge;

import static firstlight.edge.ResponsesServer.eventually;
import static firstlight.edge.ResponsesServer.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cases B56 and B58, and B59 in small. */
@Timeout(120)
class WebSocketLineTest {
  private static final String CREATE =
      "{\"type\":\"response.create\",\"model\":\"m\",\"input\":\"a 🦙 b\",\"pad\":\"%s\"}";

  @Test
  void a_request_may_come_in_any_number_of_frames() throws IOException {
    try (ResponsesServer server = new ResponsesServer();
        WebSocketClient client = new WebSocketClient(server);
        WebSocketClient other = new WebSocketClient(server)) {
      byte[] small = CREATE.formatted("").getBytes(StandardCharsets.UTF_8);
      byte[] large = CREATE.formatted("x".repeat(300_000)).getBytes(StandardCharsets.UTF_8);
      int llama = new String(small, StandardCharsets.ISO_8859_1).indexOf('ð');
      List<List<byte[]>> cuts =
          List.of(
              List.of(small),
              cut(small, 1),
              List.of(
                  Arrays.copyOf(small, llama + 2),
                  Arrays.copyOfRange(small, llama + 2, small.length)),
              List.of(large),
              cut(large, 10_240));
      for (List<byte[]> frames : cuts) {
        for (int i = 0; i < frames.size(); i++) {
          client.frame(
              i == 0 ? WebSocketClient.TEXT : WebSocketClient.CONTINUATION,
              i == frames.size() - 1,
              frames.get(i));
          if (i == 0) {
            client.frame(WebSocketClient.PING, true, new byte[] {42});
          }
        }
        assertThat(client.response()).hasSize(10);
        assertThat(asked(server)).isEqualTo("a 🦙 b");
      }
      assertThat(client.pongs()).hasSize(5).allSatisfy(pong -> assertThat(pong).contains(42));
      other.create("'input':'unharmed'");
      assertThat(other.response()).hasSize(10);
    }
  }

  @Test
  void what_breaks_the_protocol_closes_only_its_connection_with_the_right_code()
      throws IOException {
    try (ResponsesServer server = new ResponsesServer();
        WebSocketClient other = new WebSocketClient(server)) {
      byte[] half = new byte[250_000];
      assertThat(
              closed(
                  server,
                  client -> {
                    client.frame(WebSocketClient.TEXT, false, half);
                    client.frame(WebSocketClient.CONTINUATION, false, half);
                  }))
          .isEqualTo(1009);
      assertThat(
              closed(server, client -> client.frame(WebSocketClient.TEXT, true, new byte[500_000])))
          .isEqualTo(1009);
      byte[] bad = {'"', (byte) 0xc3, 0x28, '"'};
      assertThat(closed(server, client -> client.frame(WebSocketClient.TEXT, true, bad)))
          .isEqualTo(1007);
      assertThat(
              closed(
                  server,
                  client -> {
                    client.frame(WebSocketClient.TEXT, false, new byte[] {(byte) 0xc3});
                    client.frame(WebSocketClient.CONTINUATION, true, new byte[] {0x28});
                  }))
          .isEqualTo(1007);
      assertThat(closed(server, client -> client.frame(WebSocketClient.BINARY, true, new byte[9])))
          .isEqualTo(1003);
      assertThat(
              closed(
                  server, client -> client.frame(WebSocketClient.CONTINUATION, true, new byte[1])))
          .isEqualTo(1002);
      // Marked as compressed, which nobody agreed on (B82).
      assertThat(
              closed(
                  server, client -> client.frame(WebSocketClient.TEXT | 0x40, true, new byte[9])))
          .isEqualTo(1002);
      assertThat(
              closed(
                  server,
                  client -> {
                    client.frame(WebSocketClient.TEXT, false, new byte[] {'a'});
                    client.frame(WebSocketClient.TEXT, true, new byte[] {'a'});
                  }))
          .isEqualTo(1002);
      assertThat(
              closed(
                  server,
                  client -> client.frame(WebSocketClient.TEXT, true, new byte[] {'a'}, false)))
          .isEqualTo(1002);
      other.create("'input':'unharmed'");
      assertThat(other.response()).hasSize(10);
    }
  }

  @Test
  void a_long_answer_comes_in_frames_within_the_limit() throws IOException {
    try (ResponsesServer server = new ResponsesServer();
        WebSocketClient client = new WebSocketClient(server)) {
      // A frame would end within a pair of surrogates for one of them.
      for (int before = 0; before < 4; before++) {
        String word = "x".repeat(before) + "a🦙€".repeat(8_000);
        server.turns.answer(word);
        client.create("'input':'hi'");

        List<ObjectNode> events = client.response();

        assertThat(text(events.getLast().get("response"))).isEqualTo(word);
      }
      assertThat(client.largestFrame()).isBetween(16_000, 48_000);
    }
  }

  @Test
  void a_connection_that_goes_in_whatever_way_stops_its_turns_at_once() throws IOException {
    try (ResponsesServer server = new ResponsesServer()) {
      server.turns.answerEndlessly(true);
      for (int way = 0; way < 3; way++) {
        int started = server.turns.started();
        WebSocketClient client = new WebSocketClient(server);
        client.create("'input':'hi'");
        client.create("'input':'waits'");
        eventually(() -> server.turns.started() > started && server.turns.last().sent > 5);
        switch (way) {
          case 0 -> client.frame(8, true, new byte[] {3, (byte) 0xe8});
          case 1 -> client.socket.close();
          default -> client.reset();
        }
        eventually(() -> server.turns.last().over());
        assertThat(server.turns.started()).isEqualTo(started + 1);
        assertThat(server.turns.last().cancels).isEqualTo(1);
      }
    }
  }

  @Test
  void a_silent_peer_is_given_up() throws IOException {
    try (ResponsesServer server =
            with(limits -> times(limits, Duration.ofMinutes(1), 50, 10_000, 20_000));
        WebSocketClient silent = new WebSocketClient(server);
        WebSocketClient lively = new WebSocketClient(server)) {
      silent.mute();
      server.advance(Duration.ofSeconds(6));
      lively.create("'input':'hi'");
      lively.response();
      server.advance(Duration.ofSeconds(6));

      assertThat(silent.closeCode()).isEqualTo(1001);
      while (lively.pings() == 0) {
        lively.create("'input':'hi'");
        assertThat(lively.response()).hasSize(10);
      }
    }
  }

  /** Has not read of its endless answer, which pauses. */
  private static WebSocketClient slowReader(ResponsesServer server) throws IOException {
    server.turns.answer("x".repeat(2_000));
    server.turns.answerEndlessly(true);
    WebSocketClient client = new WebSocketClient(server.port(), server.json, 4_096);
    client.create("'input':'hi'");
    eventually(() -> server.turns.started() == 1 && server.turns.last().paused);
    return client;
  }

  @Test
  void a_slow_reader_makes_its_turn_pause_and_then_go_on() throws IOException {
    try (ResponsesServer server = new ResponsesServer()) {
      try (WebSocketClient client = slowReader(server)) {
        int sent = server.turns.last().sent;
        for (int i = 0; i < sent + 10; i++) {
          client.next();
        }
        assertThat(server.turns.last().sent).isGreaterThan(sent);
      }
    }
  }

  /** Or answers to what it sends would pile up. Some of it is in the buffers of the system. */
  @Test
  void a_peer_that_does_not_read_is_not_read_from() throws IOException {
    try (ResponsesServer server =
        with(limits -> times(limits, Duration.ofMinutes(1), 60_000, 60_000, 2_000))) {
      try (WebSocketClient client = slowReader(server)) {
        byte[] nonsense = "x".repeat(300_000).getBytes(StandardCharsets.UTF_8);
        AtomicInteger sent = new AtomicInteger();
        assertTimeoutPreemptively(
            Duration.ofSeconds(30),
            () ->
                assertThatThrownBy(() -> sendOn(client, nonsense, sent))
                    .isInstanceOf(IOException.class));
        assertThat(sent.get()).isLessThan(500);
      }
    }
  }

  private static void sendOn(WebSocketClient client, byte[] message, AtomicInteger sent)
      throws IOException {
    while (true) {
      client.frame(1, true, message);
      sent.incrementAndGet();
    }
  }

  @Test
  void a_reader_that_stalls_loses_its_connection_and_its_turn() throws IOException {
    try (ResponsesServer server =
        with(limits -> times(limits, Duration.ofMinutes(1), 60_000, 60_000, 200))) {
      try (WebSocketClient client = slowReader(server)) {
        eventually(() -> server.turns.last().over());
        assertThat(server.turns.last().cancels).isEqualTo(1);
        assertThat(client.closeCode()).isIn(1008, 1006);
      }
    }
  }

  @Test
  void a_connection_that_has_lived_long_enough_is_told_so_and_closed() throws IOException {
    try (ResponsesServer server =
        with(limits -> times(limits, Duration.ofMillis(300), 60_000, 60_000, 20_000))) {
      server.turns.answerEndlessly(true);
      try (WebSocketClient client = new WebSocketClient(server)) {
        client.create("'input':'hi'");
        ObjectNode event = client.next();
        while (!event.get("type").textValue().equals("error")) {
          event = client.next();
        }
        ResponseSchemas.load().check("WebSocketErrorEvent", event);
        assertThat(event.at("/error/code").textValue())
            .isEqualTo("websocket_connection_limit_reached");
        assertThat(client.closeCode()).isEqualTo(1000);
        eventually(() -> server.turns.last().over());
      }
    }
  }

  @Test
  void connections_are_counted_and_given_back() throws IOException {
    try (ResponsesServer server = new ResponsesServer()) {
      for (int round = 0; round < 2; round++) {
        List<WebSocketClient> clients = new ArrayList<>();
        for (int i = 0; i < ResponsesServer.WEB_SOCKETS.connectionsMax(); i++) {
          clients.add(connected(server));
        }
        assertThatThrownBy(() -> new WebSocketClient(server)).hasMessageContaining(" 503 ");
        for (WebSocketClient client : clients) {
          client.reset();
        }
      }
    }
  }

  // The places of connections that went come back a moment later.
  private static WebSocketClient connected(ResponsesServer server) {
    List<WebSocketClient> connected = new ArrayList<>();
    eventually(
        () -> {
          try {
            return connected.add(new WebSocketClient(server));
          } catch (IOException _) {
            return false;
          }
        });
    return connected.getFirst();
  }

  private interface Deed {
    void on(WebSocketClient client) throws IOException;
  }

  private static int closed(ResponsesServer server, Deed deed) throws IOException {
    try (WebSocketClient client = new WebSocketClient(server)) {
      deed.on(client);
      return client.closeCode();
    }
  }

  private static ResponsesServer with(UnaryOperator<WebSocketLimits> limits) {
    return new ResponsesServer(limits, ResponsesServer.STORE_TIMEOUT);
  }

  private static WebSocketLimits times(
      WebSocketLimits all, Duration life, long ping, long silence, long stall) {
    return new WebSocketLimits(
        all.connectionsMax(),
        life,
        Duration.ofMillis(ping),
        Duration.ofMillis(silence),
        Duration.ofMillis(stall),
        all.closing(),
        all.messageBytesMax(),
        all.waitingMax(),
        all.writeQueueBytes(),
        all.rememberedCharactersMax());
  }

  private static List<byte[]> cut(byte[] bytes, int size) {
    List<byte[]> pieces = new ArrayList<>();
    for (int from = 0; from < bytes.length; from += size) {
      pieces.add(Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + size)));
    }
    return pieces;
  }

  private static String asked(ResponsesServer server) {
    return server.turns.last().messages().getLast().content();
  }
}
