package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.Submit;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Goal: a client that leaves costs nothing any more (B41), one that reads slowly costs a bounded
 * amount (B59), one that waits hears something (B26). Method: raw sockets before a fake replica.
 */
class LeavingClientTest {
  private static final String SETTINGS =
      """
      limits: {creditTokens: 8, writeQueueBytes: 1KiB}
      times: {keepAlive: 100ms, stallTimeout: 700ms, idleTimeout: 1s}
      """;
  private static final String BODY = "{\"model\":\"bytes\",\"prompt\":\"x\",\"max_tokens\":60%s}";
  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture(SETTINGS);
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  @AfterEach
  void forget() throws Exception {
    edge.quiet();
    edge.replica.answering(_ -> null);
    edge.replica.forget();
  }

  private static Socket send(String fields) throws IOException {
    String body = BODY.formatted(fields);
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4096);
    socket.connect(new java.net.InetSocketAddress("127.0.0.1", edge.port()));
    socket.setSoTimeout(10_000);
    socket
        .getOutputStream()
        .write(
            ("POST /v1/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-key-a\r\n"
                    + "Content-Type: application/json\r\nContent-Length: "
                    + body.length()
                    + "\r\n\r\n"
                    + body)
                .getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static String readUntil(InputStream in, String end) throws IOException {
    StringBuilder text = new StringBuilder();
    while (text.indexOf(end) < 0) {
      int b = in.read();
      if (b < 0) {
        throw new AssertionError("the stream ended after " + text);
      }
      text.append((char) b);
    }
    return text.toString();
  }

  @ParameterizedTest
  @CsvSource({"true, FIN", "true, RST", "false, FIN", "false, RST"})
  void the_generation_of_a_client_that_leaves_is_cancelled_at_once(boolean stream, String how)
      throws Exception {
    Socket socket = send(",\"stream\":" + stream);
    Submit submit = edge.replica.nextSubmit();
    edge.replica.emit(submit.getGeneration(), 'a');
    if (stream) {
      readUntil(socket.getInputStream(), "\"text\":\"a\"");
    }

    long left = System.nanoTime();
    if (how.equals("RST")) {
      socket.setSoLinger(true, 0);
    }
    socket.close();

    assertThat(edge.replica.nextCancel()).isEqualTo(submit.getGeneration());
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - left)).isLessThan(1_000);
    ResponseFinished event = edge.eventWith("cancelled");
    assertThat(event.getOutputTokens()).isOne();
    assertThat(event.getPromptTokens()).isOne();
  }

  @Test
  void all_choices_of_a_client_that_leaves_before_the_first_token_are_cancelled() throws Exception {
    Socket socket = send(",\"n\":2,\"stream\":true");
    String first = edge.replica.nextSubmit().getGeneration();
    String second = edge.replica.nextSubmit().getGeneration();
    socket.close();

    assertThat(java.util.Set.of(edge.replica.nextCancel(), edge.replica.nextCancel()))
        .containsExactlyInAnyOrder(first, second);
  }

  @Test
  void a_client_that_waits_gets_its_status_in_time_and_then_signs_of_life() throws Exception {
    try (Socket socket = send(",\"stream\":true")) {
      Submit submit = edge.replica.nextSubmit();
      InputStream in = socket.getInputStream();

      assertThat(readUntil(in, "\r\n\r\n")).startsWith("HTTP/1.1 200");
      readUntil(in, ": keep-alive\n\n");
      readUntil(in, ": keep-alive\n\n");
      edge.replica.emit(submit.getGeneration(), 'z');
      readUntil(in, "\"text\":\"z\"");
      edge.replica.end(submit.getGeneration(), FinishReason.END);
      readUntil(in, "data: [DONE]\n\n");
    }
  }

  @Test
  void a_waiting_client_in_one_piece_is_not_cut_off_by_the_idle_timeout() throws Exception {
    try (Socket socket = send("")) {
      Submit submit = edge.replica.nextSubmit();
      long later = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1_300);
      edge.vertx.setTimer(
          1_300,
          _ -> {
            edge.replica.emit(submit.getGeneration(), 'z');
            edge.replica.end(submit.getGeneration(), FinishReason.END);
          });

      assertThat(readUntil(socket.getInputStream(), "\"text\":\"z\"")).startsWith("HTTP/1.1 200");
      assertThat(System.nanoTime()).isGreaterThan(later);
    }
  }

  @Test
  void a_connection_without_a_whole_request_is_closed() throws Exception {
    try (Socket socket = new Socket("127.0.0.1", edge.port())) {
      socket.setSoTimeout(5_000);
      socket.getOutputStream().write("GET /health HTTP/1.1\r\nHo".getBytes(StandardCharsets.UTF_8));

      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void a_refusal_before_the_first_token_is_a_status_and_after_it_an_event() throws Exception {
    try (Socket socket = send(",\"stream\":true")) {
      Submit submit = edge.replica.nextSubmit();
      edge.replica.refuse(
          submit.getGeneration(), FailureKind.OVERLOADED, "queue_full", "Full.", 2_500);
      String head = readUntil(socket.getInputStream(), "queue_full");
      assertThat(head)
          .startsWith("HTTP/1.1 503")
          .containsIgnoringCase("retry-after: 3")
          .containsIgnoringCase("retry-after-ms: 2500");
    }
    try (Socket socket = send(",\"stream\":true")) {
      Submit submit = edge.replica.nextSubmit();
      edge.replica.emit(submit.getGeneration(), 'a');
      readUntil(socket.getInputStream(), "\"text\":\"a\"");
      edge.replica.refuse(submit.getGeneration(), FailureKind.UNAVAILABLE, "gone", "Gone.", 1_001);
      String rest = readUntil(socket.getInputStream(), "0\r\n\r\n");
      assertThat(rest)
          .contains("data: {\"error\":{\"message\":\"Gone.\"")
          .contains("\"headers\":{\"Retry-After\":\"2\",\"retry-after-ms\":\"1001\"}")
          .doesNotContain("[DONE]");
    }
    ResponseFinished event = edge.eventWith("failed");
    assertThat(event.getErrorCode()).isIn("queue_full", "gone");
  }

  @Test
  void a_slow_client_holds_credit_back_and_is_ended_after_a_while() throws Exception {
    // Every chunk is made large, so that socket buffers fill before the answer is complete.
    byte[] large = "x".repeat(60_000).getBytes(StandardCharsets.UTF_8);
    try (Socket socket = send(",\"stream\":true")) {
      Submit submit = edge.replica.nextSubmit();
      assertThat(submit.getCredit()).isEqualTo(8);
      int credit = submit.getCredit();
      int sent = 0;
      while (credit > 0 && sent < 2_000) {
        credit--;
        sent++;
        edge.vertx.runOnContext(_ -> edge.replica.emit(submit.getGeneration(), large, 'x'));
        if (credit == 0) {
          credit = edge.replica.creditUnlessCancelled();
        }
      }
      assertThat(sent).as("it stands still").isLessThan(2_000);

      assertThat(edge.replica.nextCancel()).isEqualTo(submit.getGeneration());
      assertThat(socket.isClosed()).as("it was the edge that ended it").isFalse();
      assertGone(socket);
    }
  }

  @Test
  void a_large_answer_that_nobody_reads_is_not_kept_for_ever() throws Exception {
    byte[] large = "x".repeat(400_000).getBytes(StandardCharsets.UTF_8);
    try (Socket socket = send("")) {
      String generation = edge.replica.nextSubmit().getGeneration();
      for (int i = 0; i < 30; i++) {
        edge.replica.emit(generation, large, 'x');
      }
      edge.replica.end(generation, FinishReason.END);

      assertGone(socket);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void over_http_2_too_what_nobody_reads_is_not_kept_for_ever(boolean stream) throws Exception {
    byte[] large = "x".repeat(400_000).getBytes(StandardCharsets.UTF_8);
    HttpClientOptions options =
        new HttpClientOptions()
            .setProtocolVersion(HttpVersion.HTTP_2)
            .setHttp2ClearTextUpgrade(false);
    AtomicBoolean gone = new AtomicBoolean();
    HttpClientAgent client =
        edge.vertx
            .httpClientBuilder()
            .with(options)
            .withConnectHandler(connection -> connection.closeHandler(_ -> gone.set(true)))
            .build();
    client
        .request(HttpMethod.POST, edge.port(), "127.0.0.1", "/v1/completions")
        .compose(
            request ->
                request
                    .putHeader("Authorization", "Bearer " + EdgeFixture.KEY)
                    .putHeader("Content-Type", "application/json")
                    .send(BODY.formatted(",\"stream\":" + stream)))
        .onSuccess(response -> response.exceptionHandler(_ -> gone.set(true)).pause());
    String generation = edge.replica.nextSubmit().getGeneration();
    for (int i = 0; i < 30; i++) {
      edge.replica.emit(generation, large, 'x');
    }
    edge.replica.end(generation, FinishReason.END);

    Waiting.until(gone::get);
    client.close();
  }

  /** What is sent to a connection whose other end is gone is answered by a reset. */
  private static void assertGone(Socket socket) throws Exception {
    Waiting.until(
        () -> {
          try {
            socket.getOutputStream().write(' ');
            return false;
          } catch (IOException _) {
            return true;
          }
        });
  }

  @Test
  void a_client_that_catches_up_gets_everything() throws Exception {
    int[] answer = new ByteTokenizer().encode("0123456789".repeat(5));
    edge.replica.answering(_ -> answer);
    try (Socket socket = send(",\"stream\":true,\"logprobs\":20")) {
      String all = readUntil(socket.getInputStream(), "data: [DONE]\n\n");
      StringBuilder text = new StringBuilder();
      var matcher = java.util.regex.Pattern.compile("\"text\":\"(.?)\"").matcher(all);
      while (matcher.find()) {
        text.append(matcher.group(1));
      }
      assertThat(text.toString()).isEqualTo("0123456789".repeat(5));
    }
  }
}
