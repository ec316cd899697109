package firstlight.edge;

import static firstlight.edge.ResponsesServer.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code response.resume}: the rest of a Response that was made elsewhere. */
@Timeout(60)
class WebSocketResumeTest {
  private static final String STREAMED =
      "{'model':'m','input':'hi','background':true,'stream':true}";

  private ResponsesServer server;
  private ResponseSchemas schemas;

  @BeforeEach
  void start() {
    server = new ResponsesServer();
    schemas = ResponseSchemas.load();
  }

  @AfterEach
  void stop() {
    server.turns.answerEndlessly(false);
    server.close();
  }

  @Test
  void the_rest_of_one_that_has_ended_has_the_same_events() throws IOException {
    List<ObjectNode> events =
        server.events(server.post("{'model':'m','input':'hi','stream':true}"));
    String id = id(events);
    try (WebSocketClient client = new WebSocketClient(server)) {
      resume(client, id, "");
      assertThat(client.response()).isEqualTo(events);
      for (int after = 0; after < events.size() - 1; after++) {
        resume(client, id, ",'starting_after':" + after);
        assertThat(client.response()).isEqualTo(events.subList(after + 1, events.size()));
      }
    }
  }

  @Test
  void the_rest_of_one_that_runs_goes_on_live_on_every_instance() throws IOException {
    server.turns.answerSteadily();
    CompletableFuture<HttpResponse<String>> original = server.postLater(STREAMED);
    eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 20);
    String id = server.turns.last().request().response().value();
    try (WebSocketClient here = new WebSocketClient(server);
        WebSocketClient there = new WebSocketClient(server.otherPort(), server.json, 64 << 10)) {
      resume(here, id, ",'starting_after':1");
      resume(there, id, ",'starting_after':9");
      List<ObjectNode> first = new ArrayList<>(List.of(here.next()));
      List<ObjectNode> second = new ArrayList<>(List.of(there.next()));
      assertThat(server.turns.last().over()).isFalse();
      server.turns.answerEndlessly(false);
      first.addAll(here.response());
      second.addAll(there.response());

      List<ObjectNode> events = server.events(original.join());
      assertThat(first).isEqualTo(events.subList(2, events.size()));
      assertThat(second).isEqualTo(events.subList(10, events.size()));
    }
  }

  @Test
  void it_waits_for_its_turn_and_others_wait_for_it() throws IOException {
    List<ObjectNode> events =
        server.events(server.post("{'model':'m','input':'hi','stream':true}"));
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'a','metadata':{'n':'1'}");
      resume(client, id(events), ",'starting_after':3");
      client.create("'input':'b','metadata':{'n':'2'}");
      assertThat(client.response().getLast().at("/response/metadata/n").textValue()).isEqualTo("1");
      assertThat(client.response()).isEqualTo(events.subList(4, events.size()));
      assertThat(client.response().getLast().at("/response/metadata/n").textValue()).isEqualTo("2");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'response_id':'resp_0'|404|response_not_found|response_id",
        "'response_id':'no id'|404|response_not_found|response_id",
        "'starting_after':1|400|invalid_value|response_id",
        "'response_id':5|400|invalid_value|response_id",
        "'response_id':'ID','starting_after':-1|400|invalid_value|starting_after",
        "'response_id':'ID','starting_after':'5'|400|invalid_value|starting_after",
        "'response_id':'ID','starting_after':1.5|400|invalid_value|starting_after",
        "'response_id':'ID','starting_after':9|400|invalid_value|starting_after",
      })
  void what_cannot_be_resumed_is_an_error_and_the_connection_goes_on(
      String fields, int status, String code, String param) throws IOException {
    String id = server.create("{'model':'m','input':'hi'}").get("id").textValue();
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.send("{'type':'response.resume'," + fields.replace("ID", id) + "}");
      ObjectNode refusal = client.next();
      assertRefused(refusal, status, code);
      assertThat(refusal.at("/error/param").textValue()).isEqualTo(param);
      client.create("'input':'hi'");
      assertThat(client.response()).hasSize(10);
    }
  }

  @Test
  void another_tenants_does_not_exist() throws IOException {
    String id = server.create("{'model':'m','input':'hi'}").get("id").textValue();
    try (WebSocketClient client = new WebSocketClient(server, "tenant: b")) {
      resume(client, id, "");
      assertThat(client.next().at("/error/code").textValue()).isEqualTo("response_not_found");
    }
  }

  @Test
  void one_that_fails_is_told_and_what_the_connection_remembers_stays() throws IOException {
    server.turns.answerSteadily();
    CompletableFuture<HttpResponse<String>> original = server.postLater(STREAMED);
    eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 5);
    String failing = server.turns.last().request().response().value();
    try (WebSocketClient client = new WebSocketClient(server)) {
      resume(client, failing, "");
      assertThat(client.next().get("sequence_number").intValue()).isZero();
      server.turns.failWith(new MeshException(FailureKind.DEVICE_LOST, "device_lost", "Gone."));
      server.turns.answerEndlessly(false);
      List<ObjectNode> rest = client.response();
      assertThat(rest.getLast().get("type").textValue()).isEqualTo("response.failed");
      assertThat(rest.getLast()).isEqualTo(server.events(original.join()).getLast());
    }
  }

  @Test
  void an_unstored_response_is_remembered_although_another_is_resumed() throws IOException {
    String other = server.create("{'model':'m','input':'hi'}").get("id").textValue();
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'a','store':false");
      String id = id(client.response());
      resume(client, other, "");
      client.response();
      client.create("'input':'b','store':false,'previous_response_id':'%s'".formatted(id));
      assertThat(client.response()).hasSize(10);
      assertThat(server.turns.last().messages()).hasSize(3);
    }
  }

  @Test
  void a_connection_that_goes_leaves_the_response_alone() throws IOException {
    server.turns.answerSteadily();
    ObjectNode queued = server.create("{'model':'m','input':'hi','background':true}");
    try (WebSocketClient client = new WebSocketClient(server)) {
      resume(client, queued.get("id").textValue(), "");
      assertThat(client.next().get("sequence_number").intValue()).isZero();
      client.reset();
    }
    int sent = server.turns.last().sent;
    eventually(() -> server.turns.last().sent > sent + 100);
    assertThat(server.turns.last().cancels).isZero();
  }

  /** What a reader found out before the end, later ones find out for a while. */
  @Test
  void one_that_never_begins_is_an_error() throws IOException {
    ObjectNode first = server.create("{'model':'m','input':'hi'}");
    server.session.mood(FakeSession.Mood.HOLDING);
    String refused = queuedAfter(first);
    String cancelled = queuedAfter(first);
    eventually(() -> server.session.heldAnswers() == 2);
    server.turns.refuseWith(
        new MeshException(FailureKind.INVALID_REQUEST, "context_length_exceeded", "Too long."));
    try (WebSocketClient one = new WebSocketClient(server);
        WebSocketClient two = new WebSocketClient(server)) {
      resumeAndWait(one, refused);
      resumeAndWait(two, cancelled);
      server.session.mood(FakeSession.Mood.WILLING);
      assertThat(server.postTo("/v1/responses/%s/cancel".formatted(cancelled), "").statusCode())
          .isEqualTo(200);
      server.session.release();

      assertRefused(one.next(), 400, "context_length_exceeded");
      assertRefused(two.next(), 409, "response_cancelled");
    }
    HttpResponse<String> refusal = server.get("/v1/responses/%s?stream=true".formatted(refused));
    assertThat(refusal.statusCode()).isEqualTo(400);
    assertThat(server.object(refusal).at("/error/code").textValue())
        .isEqualTo("context_length_exceeded");
    HttpResponse<String> end = server.get("/v1/responses/%s?stream=true".formatted(cancelled));
    assertThat(end.statusCode()).isEqualTo(409);
    assertThat(server.object(end).at("/error/code").textValue()).isEqualTo("response_cancelled");
  }

  private String queuedAfter(ObjectNode first) {
    return server
        .create(
            "{'model':'m','input':'x','background':true,'previous_response_id':%s}"
                .formatted(first.get("id")))
        .get("id")
        .textValue();
  }

  /** The answer to what follows says that the resumption has been read. */
  private static void resumeAndWait(WebSocketClient client, String id) throws IOException {
    resume(client, id, "");
    client.send("{}");
    assertThat(client.next().at("/error/param").textValue()).isEqualTo("type");
  }

  private void assertRefused(ObjectNode frame, int status, String code) {
    schemas.check("WebSocketErrorEvent", frame);
    assertThat(frame.get("status").intValue()).isEqualTo(status);
    assertThat(frame.at("/error/code").textValue()).isEqualTo(code);
  }

  private static void resume(WebSocketClient client, String id, String more) throws IOException {
    client.send("{'type':'response.resume','response_id':'%s'%s}".formatted(id, more));
  }

  private static String id(List<ObjectNode> events) {
    return events.getFirst().at("/response/id").textValue();
  }
}
