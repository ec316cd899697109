package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.wire.Event;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class FeedbackHttpTest {
  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture("");
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  @Test
  void a_client_of_langfuse_says_its_key_as_a_password() throws Exception {
    String pair =
        Base64.getEncoder().encodeToString("pk-lf-1:test-key-a".getBytes(StandardCharsets.UTF_8));
    EdgeFixture.Answer answer =
        send(
            "/api/public/scores",
            "Authorization",
            "Basic " + pair,
            "{\"id\":\"s1\",\"traceId\":\"resp_1\",\"name\":\"useful\",\"value\":1,"
                + "\"dataType\":\"BOOLEAN\"}");

    assertThat(answer.status()).isEqualTo(202);
    assertThat(answer.json().get("id").asText()).isEqualTo("s1");
    Event event = Waiting.forNext(edge.events);
    assertThat(event.getTenant()).isEqualTo("a");
    assertThat(event.getFeedback().getResponseId()).isEqualTo("resp_1");
  }

  @Test
  void a_client_of_langsmith_says_it_in_its_header() throws Exception {
    EdgeFixture.Answer answer =
        send(
            "/feedback",
            "x-api-key",
            "test-key-b",
            "{\"id\":\"f1\",\"run_id\":\"resp_2\",\"key\":\"correct\",\"score\":0.5}");

    assertThat(answer.status()).isEqualTo(202);
    Event event = Waiting.forNext(edge.events);
    assertThat(event.getTenant()).isEqualTo("b");
    assertThat(event.getFeedback().getNumber()).isEqualTo(0.5);
  }

  private static EdgeFixture.Answer send(String path, String header, String key, String body)
      throws Exception {
    return edge.send(
        edge.request(path)
            .header(header, key)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build());
  }
}
