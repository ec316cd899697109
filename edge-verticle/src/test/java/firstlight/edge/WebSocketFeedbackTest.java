package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FinishReason;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class WebSocketFeedbackTest {
  private static final String RATING =
      "'id':'%s','target':{'response_id':'resp_1'},'name':'stars','value':%d";

  private static ResponsesServer server;

  @BeforeAll
  static void start() {
    server = new ResponsesServer();
    server.turns.answer("Hello", " world");
    server.turns.endWith(FinishReason.END);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void feedback_is_taken_beside_a_running_response() throws IOException {
    server.turns.answerEndlessly(true);
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'hi'");
      client.send("{'type':'feedback.create'," + RATING.formatted("f1", 4) + "}");

      ObjectNode accepted = next(client, "feedback.accepted");
      assertThat(accepted.get("id").textValue()).isEqualTo("f1");
      assertThat(server.events.accepted)
          .anyMatch(event -> event.getFeedback().getFeedbackId().equals("f1"));
    }
    server.turns.answerEndlessly(false);
  }

  @Test
  void a_changed_one_is_refused_and_the_connection_goes_on() throws IOException {
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.send("{'type':'feedback.create'," + RATING.formatted("f2", 4) + "}");
      next(client, "feedback.accepted");
      client.send("{'type':'feedback.create'," + RATING.formatted("f2", 5) + "}");
      ObjectNode error = next(client, "error");
      assertThat(error.toString()).contains("feedback_conflict");
      client.send("{'type':'feedback.create','name':'x'}");
      assertThat(next(client, "error").toString()).contains("target");
      client.create("'input':'hi'");
      assertThat(next(client, "response.completed")).isNotNull();
    }
  }

  private static ObjectNode next(WebSocketClient client, String type) throws IOException {
    while (true) {
      ObjectNode event = client.next();
      if (event.get("type").textValue().equals(type)) {
        return event;
      }
    }
  }
}
