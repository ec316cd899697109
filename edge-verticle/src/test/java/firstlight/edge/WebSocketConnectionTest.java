package firstlight.edge;

import static firstlight.edge.ResponsesServer.eventually;
import static firstlight.edge.ResponsesServer.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.ChatMessage;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WebSocketConnectionTest {
  private static ResponsesServer server;

  @BeforeAll
  static void start() {
    server = new ResponsesServer();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void calm() {
    server.session.mood(FakeSession.Mood.WILLING);
    server.turns.answer("Hello", " world");
    server.turns.answerEndlessly(false);
    server.turns.endWith(FinishReason.END);
    server.turns.refuseWith(null);
    server.turns.failWith(null);
  }

  @Test
  void a_turn_has_the_events_of_a_stream_without_its_end_mark() throws IOException {
    ResponseSchemas schemas = ResponseSchemas.load();
    List<ObjectNode> streamed =
        server.events(server.post("{'model':'m','input':'hi','stream':true}"));
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'hi'");
      List<ObjectNode> events = client.response();

      events.forEach(schemas::checkEvent);
      assertThat(events)
          .extracting(WebSocketConnectionTest::withoutIds)
          .containsExactlyElementsOf(
              streamed.stream().map(WebSocketConnectionTest::withoutIds).toList());
      client.create("'input':'again'");
      assertThat(client.response().getFirst().get("type").textValue())
          .isEqualTo("response.created");
    }
  }

  @Test
  void turns_of_one_connection_come_one_after_another_in_order() throws IOException {
    try (WebSocketClient client = new WebSocketClient(server)) {
      for (String input : List.of("a", "b", "c")) {
        client.create("'input':'%s','metadata':{'n':'%s'}".formatted(input, input));
      }
      for (String input : List.of("a", "b", "c")) {
        List<ObjectNode> events = client.response();
        assertThat(events).hasSize(10);
        assertThat(events.getLast().at("/response/metadata/n").textValue()).isEqualTo(input);
      }
    }
  }

  @Test
  void more_than_a_few_waiting_turns_are_refused_and_the_others_go_on() throws IOException {
    server.session.mood(FakeSession.Mood.HOLDING);
    try (WebSocketClient client = new WebSocketClient(server)) {
      for (int i = 0; i < 4; i++) {
        client.create("'input':'hi'");
      }
      ObjectNode refusal = client.next();
      while (!refusal.get("type").textValue().equals("error")) {
        refusal = client.next();
      }
      ResponseSchemas.load().check("WebSocketErrorEvent", refusal);
      assertThat(refusal.get("status").intValue()).isEqualTo(429);
      assertThat(refusal.at("/error/code").textValue()).isEqualTo("too_many_waiting");
      eventually(() -> server.session.heldAnswers() >= 1);
      server.session.mood(FakeSession.Mood.WILLING);
      server.session.release();
      for (int i = 0; i < 3; i++) {
        assertThat(client.response().getLast().get("type").textValue())
            .isEqualTo("response.completed");
      }
    }
  }

  /** Together they are longer than what may wait at a time. */
  @Test
  void turns_that_have_waited_make_room_for_others() throws IOException {
    String large = "'input':'%s','metadata':{'n':'large'}".formatted("x".repeat(150_000));
    try (WebSocketClient client = new WebSocketClient(server)) {
      for (int round = 0; round < 3; round++) {
        server.session.mood(FakeSession.Mood.HOLDING);
        client.create("'input':'hi'");
        client.create(large);
        client.create("'input':'hi'");
        client.create("'input':'hi'");
        while (!client.next().get("type").textValue().equals("error")) {
          // What was sent before has come, and the last one is one too many.
        }
        eventually(() -> server.session.heldAnswers() >= 1);
        server.session.mood(FakeSession.Mood.WILLING);
        server.session.release();
        client.response();
        assertThat(client.response().getLast().at("/response/metadata/n").asText())
            .isEqualTo("large");
        client.response();
      }
    }
  }

  @Test
  void an_unstored_response_can_be_gone_on_from_on_its_connection_only() throws IOException {
    String first;
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'a','store':false");
      first = client.response().getLast().at("/response/id").textValue();
      client.create("'input':'b','store':false,'previous_response_id':'%s'".formatted(first));
      String second = client.response().getLast().at("/response/id").textValue();
      client.create("'input':'c','previous_response_id':'%s'".formatted(second));
      ObjectNode third = (ObjectNode) client.response().getLast().get("response");

      assertThat(messages())
          .containsExactly(
              new ChatMessage("user", "a"),
              new ChatMessage("assistant", "Hello world"),
              new ChatMessage("user", "b"),
              new ChatMessage("assistant", "Hello world"),
              new ChatMessage("user", "c"));
      assertThat(server.session.turn(first)).isNull();
      assertThat(server.session.turn(second)).isNull();
      assertThat(third.get("previous_response_id").textValue()).isEqualTo(second);
      assertStandsAlone(third);
    }
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'b','store':false,'previous_response_id':'%s'".formatted(first));
      assertError(client.response(), 404, "previous_response_not_found");
      client.create("'input':'b','store':false");
      assertThat(client.response()).hasSize(10);
    }
  }

  /** A stored turn on top of unstored ones must be complete without them. */
  private static void assertStandsAlone(ObjectNode response) {
    assertThat(server.session.turn(response.get("id").textValue()).parent()).isNull();
    server.create(
        "{'model':'m','input':'d','previous_response_id':'%s'}"
            .formatted(response.get("id").textValue()));
    assertThat(messages()).hasSize(7).last().isEqualTo(new ChatMessage("user", "d"));
  }

  @Test
  void only_the_most_recent_response_is_remembered() throws IOException {
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'a','store':false");
      String first = client.response().getLast().at("/response/id").textValue();
      client.create("'input':'b','store':false");
      client.response();

      client.create("'input':'c','previous_response_id':'%s'".formatted(first));

      assertError(client.response(), 404, "previous_response_not_found");
    }
  }

  @Test
  void a_history_that_is_too_long_to_keep_is_not_remembered() throws IOException {
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'%s','store':false".formatted("a".repeat(10_000)));
      String first = client.response().getLast().at("/response/id").textValue();

      client.create("'input':'c','previous_response_id':'%s'".formatted(first));

      assertError(client.response(), 404, "previous_response_not_found");
    }
  }

  @Test
  void a_stored_response_can_be_gone_on_from_on_any_connection() throws IOException {
    String id = server.create("{'model':'m','input':'hi'}").get("id").textValue();
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'b','previous_response_id':'%s'".formatted(id));
      client.response();
      assertThat(messages()).hasSize(3);
    }
  }

  @Test
  void a_continuation_that_fails_makes_its_unstored_response_unknown() throws IOException {
    String orphan = "'input':[{'type':'function_call_output','call_id':'c','output':'x'}]";
    String wrong = "'input':'x','temperature':9";
    for (String failing : List.of(orphan, wrong, "'input':'lost'")) {
      server.turns.failWith(null);
      try (WebSocketClient client = new WebSocketClient(server)) {
        client.create("'input':'a','store':false");
        String id = client.response().getLast().at("/response/id").textValue();
        String previous = ",'store':false,'previous_response_id':'%s'".formatted(id);
        server.turns.failWith(
            new MeshException(FailureKind.DEVICE_LOST, "device_lost", "Lost. Try again."));
        client.create(failing + previous);
        ObjectNode last = client.response().getLast();
        assertThat(last.get("type").textValue()).isIn("error", "response.failed");

        client.create("'input':'b'" + previous);

        assertError(client.response(), 404, "previous_response_not_found");
      }
    }
  }

  @Test
  void a_failure_of_another_turn_leaves_the_remembered_response() throws IOException {
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'a','store':false");
      String id = client.response().getLast().at("/response/id").textValue();
      client.create("'input':'x','temperature':9");
      assertError(client.response(), 400, "invalid_value");

      client.create("'input':'b','previous_response_id':'%s'".formatted(id));

      assertThat(client.response()).hasSize(10);
    }
  }

  @Test
  void a_warm_up_ends_without_an_answer_and_is_gone_on_from() throws IOException {
    try (WebSocketClient client = new WebSocketClient(server)) {
      int started = server.turns.started();
      client.create("'input':'a','store':false,'generate':false,'stream':true");
      List<ObjectNode> events = client.response();
      assertThat(events).hasSize(3);
      assertThat(events.getLast().at("/response/output")).isEmpty();
      assertThat(server.turns.started()).isEqualTo(started);
      String id = events.getLast().at("/response/id").textValue();

      client.create("'input':'b','previous_response_id':'%s'".formatted(id));

      client.response();
      assertThat(messages())
          .containsExactly(new ChatMessage("user", "a"), new ChatMessage("user", "b"));
    }
  }

  @Test
  void a_warm_up_for_a_model_that_is_not_there_is_an_error_and_not_stored() throws IOException {
    int before = server.session.size();
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.send("{'type':'response.create','model':'\\u0000','input':'a','generate':false}");
      assertError(client.response(), 404, "model_not_found");
      assertThat(server.session.size()).isEqualTo(before);
    }
  }

  @Test
  void what_is_no_request_is_an_error_and_the_connection_goes_on() throws IOException {
    try (WebSocketClient client = new WebSocketClient(server)) {
      for (String message :
          List.of(
              "{",
              "[]",
              "{}",
              "{'type':5}",
              "{'type':'response.fly'}",
              "{'a':1,'a':2}",
              "[".repeat(100_000),
              "{'type':'response.create','metadata':" + "{'a':".repeat(5_000))) {
        client.send(message);
        List<ObjectNode> answer = client.response();
        assertThat(answer.getFirst().get("status").intValue()).isEqualTo(400);
        ResponseSchemas.load().check("WebSocketErrorEvent", answer.getFirst());
      }
      client.send("{'type':'response.create'}");
      assertThat(client.response().getFirst().at("/error/param").textValue()).isEqualTo("model");
      client.send("{'type':'response.processed'}");
      client.create("'input':'hi'");
      assertThat(client.response()).hasSize(10);
    }
  }

  @Test
  void a_refusal_says_when_to_come_again() throws IOException {
    server.turns.refuseWith(
        new MeshException(FailureKind.OVERLOADED, "overloaded", "Full.", null, 2_500));
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'hi'");
      ObjectNode error = client.next();

      ResponseSchemas.load().check("WebSocketErrorEvent", error);
      assertThat(error.get("status").intValue()).isEqualTo(503);
      assertThat(error.at("/error/headers/Retry-After").textValue()).isEqualTo("3");
      assertThat(error.at("/error/headers/retry-after-ms").textValue()).isEqualTo("2500");
    }
  }

  @Test
  void a_failure_in_a_turn_has_the_status_that_clients_look_for() throws IOException {
    server.turns.failWith(
        new MeshException(FailureKind.DEVICE_LOST, "device_lost", "Lost. Try again."));
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'hi'");
      List<ObjectNode> events = client.response();

      ObjectNode error = events.get(events.size() - 2);
      ResponseSchemas.load().check("WebSocketErrorEvent", error);
      assertThat(error.get("status").intValue()).isEqualTo(503);
      assertThat(text(events.getLast().get("response"))).isEqualTo("Hello world");
      server.turns.failWith(null);
      client.create("'input':'hi'");
      assertThat(client.response()).hasSize(10);
    }
  }

  @Test
  void pages_of_other_origins_are_refused_before_the_upgrade() {
    assertThatThrownBy(() -> new WebSocketClient(server, "Origin: https://evil.example"))
        .hasMessageContaining(" 403 ");
    assertThatThrownBy(() -> new WebSocketClient(server, "Origin: ::"))
        .hasMessageContaining(" 403 ");
  }

  @Test
  void pages_of_the_server_itself_may_connect() throws IOException {
    try (WebSocketClient client = new WebSocketClient(server, "Origin: http://localhost")) {
      client.create("'input':'hi'");
      assertThat(client.response()).hasSize(10);
    }
  }

  private static void assertError(List<ObjectNode> events, int status, String code) {
    assertThat(events).hasSize(1);
    ResponseSchemas.load().check("WebSocketErrorEvent", events.getFirst());
    assertThat(events.getFirst().get("status").intValue()).isEqualTo(status);
    assertThat(events.getFirst().at("/error/code").textValue()).isEqualTo(code);
  }

  private static String withoutIds(ObjectNode event) {
    return Json.text(event)
        .replaceAll("\"(resp|msg)_[a-z0-9_]+\"", "\"id\"")
        .replaceAll("\"(created|completed)_at\":[0-9]+", "\"at\":0");
  }

  private static List<ChatMessage> messages() {
    return server.turns.last().messages();
  }
}
