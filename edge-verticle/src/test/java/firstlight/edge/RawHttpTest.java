package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Goal: bytes that are not clean HTTP never become a second request (B81). Method: raw sockets. */
class RawHttpTest {
  private static final String END = "\r\n\r\n";

  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture("times: {idleTimeout: 500ms, bodyTimeout: 400ms}\n").saying("fine");
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  /** Everything the edge says until it closes the connection. */
  private static String talk(String raw) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", edge.port())) {
      socket.setSoTimeout(8_000);
      ByteArrayOutputStream heard = new ByteArrayOutputStream();
      try {
        socket.getOutputStream().write(raw.getBytes(StandardCharsets.ISO_8859_1));
        socket.getInputStream().transferTo(heard);
      } catch (SocketTimeoutException e) {
        throw new AssertionError("the connection stayed open after " + heard, e);
      } catch (IOException e) {
        // A reset after the answer is a close, too.
      }
      return heard.toString(StandardCharsets.UTF_8);
    }
  }

  private static int answers(String heard) {
    return heard.split("HTTP/1\\.[01] ", -1).length - 1;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nX",
        "Transfer-Encoding: chunked, something\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}    ",
        "Content-Length:\r\n6\r\n\r\n{}    ",
        "Content-Length: +5\r\n\r\n{}   ",
        "Content-Length: -1\r\n\r\n{}",
        "Content-Length: 0x5\r\n\r\n{}   ",
        "Content-Length: 99999999999999999999\r\n\r\n{}",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}X\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2;a=\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
        "Host: b\r\nContent-Length: 2\r\n\r\n{}",
        "A B: c\r\nContent-Length: 2\r\n\r\n{}",
        "A\u0000: c\r\nContent-Length: 2\r\n\r\n{}"
      })
  void an_ambiguous_message_is_refused_and_ends_the_connection(String rest) throws Exception {
    String head =
        "POST /v1/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test-key-a\r\n"
            + "Content-Type: application/json\r\n";

    String heard = talk(head + rest + "GET /health HTTP/1.1\r\nHost: a\r\n\r\n");

    assertThat(answers(heard)).as(heard).isLessThanOrEqualTo(1);
    assertThat(heard).doesNotContain("\"live\"", "HTTP/1.1 200");
    assertThat(edge.get("/health/live").status()).isEqualTo(200);
  }

  /** A client that kept the connection would send its next request into nothing. */
  @ParameterizedTest
  @CsvSource({
    "GET / HTTP/1.1|A B: c, 400",
    "GET /[long] HTTP/1.1|Host: a, 414",
    "GET / HTTP/1.1|X: [long], 431",
    "GET / HTTP/1.1|Host: a|Host: b, 400",
  })
  void an_answer_after_which_nothing_can_be_read_says_so(String head, int status) throws Exception {
    String heard = talk(head.replace("|", "\r\n").replace("[long]", "x".repeat(40_000)) + END);

    assertThat(heard)
        .matches("(?s)HTTP/1\\.[01] %d .*".formatted(status))
        .containsIgnoringCase("connection: close")
        .contains("\"error\"", "invalid_http");
  }

  @Test
  void a_request_in_chunks_is_the_last_on_its_connection_and_its_answer_says_so() throws Exception {
    String heard =
        talk(
            "POST /v1/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test-key-a\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "1e\r\n{\"model\":\"bytes\",\"prompt\":\"x\"}\r\n0\r\n\r\n");

    assertThat(heard).startsWith("HTTP/1.1 200").containsIgnoringCase("connection: close");
  }

  @Test
  void lines_that_end_with_lf_alone_and_targets_elsewhere_are_refused() throws Exception {
    assertThat(talk("GET /health HTTP/1.1\nHost: a\n\n")).doesNotContain("HTTP/1.1 200");
    assertThat(talk("GET http://b/health HTTP/1.1\r\nHost: a\r\n\r\n")).startsWith("HTTP/1.1 400");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/%",
        "/v1/responses/%",
        "/v1/responses/%zz",
        "/v1/responses/resp_%4",
        "/v1/responses/resp_1?stream=%",
        "/v1/responses/resp_1?starting_after=%zz",
        "/v1/conversations/conv_1/items?limit=%f"
      })
  void percent_signs_that_encode_nothing_are_the_clients_mistake(String target) throws Exception {
    String heard =
        talk(
            "GET %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test-key-a\r\n\r\n"
                .replace("%s", target));

    assertThat(heard).startsWith("HTTP/1.1 400").contains("\"error\"");
  }

  @Test
  void enormous_headers_are_refused() throws Exception {
    assertThat(talk("GET /health HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(1 << 20) + "\r\n\r\n"))
        .doesNotContain("HTTP/1.1 200");
    assertThat(talk("GET /health HTTP/1.1\r\nHost: a\r\n" + "X: y\r\n".repeat(10_000) + "\r\n"))
        .doesNotContain("HTTP/1.1 200");
    assertThat(talk("GET /" + "x".repeat(100_000) + " HTTP/1.1\r\nHost: a\r\n\r\n"))
        .doesNotContain("HTTP/1.1 200");
  }

  @Test
  void a_body_that_does_not_arrive_is_given_up() throws Exception {
    String heard =
        talk(
            "POST /v1/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test-key-a\r\n"
                + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"model\"");

    assertThat(heard).startsWith("HTTP/1.1 400").contains("body_timeout");
  }

  @Test
  void a_client_that_asks_first_may_send_its_body_unless_it_is_too_large() throws Exception {
    String head =
        "POST /v1/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test-key-a\r\n"
            + "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ";
    String body = "{\"model\":\"bytes\",\"prompt\":\"x\"}";

    assertThat(talk(head + body.length() + "\r\n\r\n" + body))
        .startsWith("HTTP/1.1 100")
        .contains("HTTP/1.1 200", "fine");
    assertThat(talk(head + (1L << 40) + "\r\n\r\n")).startsWith("HTTP/1.1 413");
  }
}
