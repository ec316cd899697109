package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each limit on a request's size, by its name in the configuration, set low. */
class NamedLimitsHttpTest {
  private static final String MESSAGE = "{\"role\":\"user\",\"content\":\"x\"}";
  private static final String FUNCTION = "{\"type\":\"function\",\"function\":{\"name\":\"f#\"}}";
  private static final String FLAT = "{\"type\":\"function\",\"name\":\"f#\"}";
  private static final String NAMED = "{\"name\":\"f#\",\"input_schema\":{\"type\":\"object\"}}";

  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge =
        new EdgeFixture(
                """
                limits:
                  bodyBytesMax: 4KiB
                  jsonDepthMax: 10
                  jsonTokensMax: 1000
                  headerBytesMax: 2KiB
                  promptCharactersMax: 40
                  messagesMax: 3
                  toolsMax: 3
                  stopStringsMax: 3
                  stopCharactersMax: 8
                  answersMax: 3
                  logitBiasesMax: 3
                """)
            .saying("fine");
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "/v1/chat/completions|\"messages\":[MESSAGE]|messages",
        "/v1/messages|\"max_tokens\":5,\"messages\":[MESSAGE]|messages",
        "/v1/responses|\"store\":false,\"input\":[MESSAGE]|input",
        "/v1/chat/completions|\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
            + "\"tools\":[FUNCTION]|tools",
        "/v1/messages|\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
            + "\"tools\":[NAMED]|tools",
        "/v1/responses|\"store\":false,\"input\":\"x\",\"tools\":[FLAT]|tools",
        "/v1/completions|\"prompt\":\"x\",\"stop\":[\"q\"]|stop",
        "/v1/messages|\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
            + "\"stop_sequences\":[\"q\"]|stop_sequences",
        "/v1/completions|\"max_tokens\":5,\"prompt\":[\"x\"]|prompt",
      })
  void a_list_has_as_many_elements_as_it_may(String path, String fields, String param)
      throws Exception {
    assertThat(edge.post(path, body(fields, 3)).status()).isEqualTo(200);
    EdgeFixture.Answer refused = edge.post(path, body(fields, 4));
    assertThat(refused.status()).as(refused.http().body()).isEqualTo(400);
    assertThat(refused.json().at("/error/message").asText()).contains(param, "at most 3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "\"stop\":\"12345678\"|\"stop\":\"123456789\"|stop",
        "\"n\":3|\"n\":4|n",
        "\"logit_bias\":{\"1\":1,\"2\":1,\"3\":1}|"
            + "\"logit_bias\":{\"1\":1,\"2\":1,\"3\":1,\"4\":1}|logit_bias",
      })
  void a_value_is_as_large_as_it_may_be(String most, String more, String param) throws Exception {
    assertThat(edge.completion("\"prompt\":\"x\"," + most).status()).isEqualTo(200);
    EdgeFixture.Answer refused = edge.completion("\"prompt\":\"x\"," + more);
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().at("/error/param").asText()).isEqualTo(param);
  }

  @Test
  void a_prompt_has_as_many_characters_as_it_may() throws Exception {
    assertThat(edge.completion(prompt(40)).status()).isEqualTo(200);
    EdgeFixture.Answer refused = edge.completion(prompt(41));
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().at("/error/message").asText()).contains("more than 40 characters");
  }

  @Test
  void a_body_has_as_many_bytes_as_it_may() throws Exception {
    String body = "{\"model\":\"bytes\",\"prompt\":\"x\"}";
    String full = body + " ".repeat(4_096 - body.length());
    assertThat(edge.post("/v1/completions", full).status()).isEqualTo(200);
    for (int more : new int[] {1, 1, 100, 4_096, 5_000}) {
      // The client has sent all of it before it reads the answer.
      EdgeFixture.Answer refused = edge.post("/v1/completions", full + " ".repeat(more));
      assertThat(refused.status()).isEqualTo(413);
      JsonNode error = refused.json().get("error");
      assertThat(error.get("code").asText()).isEqualTo("body_too_large");
      assertThat(error.get("message").asText()).contains("4096");
    }
  }

  @Test
  void json_is_as_deep_and_has_as_many_values_as_it_may() throws Exception {
    assertThat(edge.completion("\"prompt\":\"x\",\"other\":" + nested(9)).status()).isEqualTo(200);
    EdgeFixture.Answer deep = edge.completion("\"prompt\":\"x\",\"other\":" + nested(10));
    assertThat(deep.status()).isEqualTo(400);
    assertThat(deep.json().at("/error/message").asText()).contains("nested 10 deep");
    assertThat(edge.completion("\"prompt\":\"x\",\"other\":" + numbers(900)).status())
        .isEqualTo(200);
    EdgeFixture.Answer wide = edge.completion("\"prompt\":\"x\",\"other\":" + numbers(1_000));
    assertThat(wide.status()).isEqualTo(400);
    assertThat(wide.json().at("/error/message").asText()).contains("1000 values");
  }

  @Test
  void headers_have_as_many_bytes_as_they_may() throws Exception {
    assertThat(withHeaders(2_048)).startsWith("HTTP/1.1 200");
    assertThat(withHeaders(2_049)).startsWith("HTTP/1.1 431").contains("2048 bytes");
  }

  @Test
  void no_answer_is_compressed() throws Exception {
    for (String more : List.of("", ",\"stream\":true")) {
      HttpRequest request =
          HttpRequest.newBuilder(
                  edge.postRequest(
                      "/v1/completions", "{\"model\":\"bytes\",\"prompt\":\"x\"" + more + "}"),
                  (_, _) -> true)
              .header("Accept-Encoding", "gzip, deflate, br, zstd")
              .build();
      EdgeFixture.Answer answer = edge.send(request);
      assertThat(answer.header("content-encoding")).isEmpty();
      assertThat(answer.http().body()).contains("\"text\":\"f");
    }
  }

  /**
   * The answer to a request.
   *
   * @param bytes that all header lines have together, without their ends
   */
  private static String withHeaders(int bytes) throws Exception {
    List<String> lines = List.of("Host: a", "Connection: close", "X: ");
    int known = lines.stream().mapToInt(String::length).sum();
    try (Socket socket = new Socket("127.0.0.1", edge.port())) {
      socket.setSoTimeout(8_000);
      String request =
          "GET /health/live HTTP/1.1\r\n%s%s\r\n\r\n"
              .formatted(String.join("\r\n", lines), "a".repeat(bytes - known));
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String body(String fields, int count) {
    String all = fields;
    all = all.replace("[MESSAGE]", list(MESSAGE, count));
    all = all.replace("[FUNCTION]", list(FUNCTION, count));
    all = all.replace("[FLAT]", list(FLAT, count));
    all = all.replace("[NAMED]", list(NAMED, count));
    all = all.replace("[\"q\"]", list("\"q\"", count));
    all = all.replace("[\"x\"]", list("\"x\"", count));
    return "{\"model\":\"bytes\"," + all + "}";
  }

  private static String list(String element, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> element.replace("#", String.valueOf(i)))
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static String prompt(int characters) {
    return "\"max_tokens\":5,\"prompt\":\"%s\"".formatted("a".repeat(characters));
  }

  private static String nested(int depth) {
    return "[".repeat(depth) + "]".repeat(depth);
  }

  private static String numbers(int count) {
    return list("1", count);
  }
}
