package firstlight.edge;

import static firstlight.edge.ResponsesServer.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ResponseBackgroundTest {
  private static final String BODY = "{'model':'m','input':'hi','background':true}";

  private ResponsesServer server;
  private ResponseSchemas schemas;

  @BeforeEach
  void start() {
    schemas = ResponseSchemas.load();
    server = new ResponsesServer();
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.turns.answerEndlessly(false);
      server.close();
    }
  }

  @Test
  void it_is_queued_then_runs_and_is_completed_without_its_client() {
    ObjectNode first = server.create("{'model':'m','input':'hi'}");
    server.session.mood(FakeSession.Mood.HOLDING);
    ObjectNode queued =
        server.create(
            "{'model':'m','input':'x','background':true,'previous_response_id':%s}"
                .formatted(first.get("id")));
    schemas.check("ResponseResource", queued);
    assertThat(queued.get("status").textValue()).isEqualTo("queued");
    assertThat(queued.get("background").booleanValue()).isTrue();
    assertThat(get(queued)).isEqualTo(queued);

    // Its history is found; now the store is waited for.
    eventually(() -> server.session.heldAnswers() == 1);
    server.session.release();
    eventually(() -> server.session.heldAnswers() == 1);
    assertThat(status(queued)).isEqualTo("in_progress");
    schemas.check("ResponseResource", get(queued));

    server.session.mood(FakeSession.Mood.WILLING);
    server.session.release();
    eventually(() -> status(queued).equals("completed"));
    ObjectNode completed = get(queued);
    schemas.check("ResponseResource", completed);
    assertThat(ResponsesServer.text(completed)).startsWith("Hello world");
    assertThat(completed.get("background").booleanValue()).isTrue();
  }

  @Test
  void a_cancelled_one_stops_its_turn_and_keeps_what_there_was() {
    server.turns.answerSteadily();
    ObjectNode queued = server.create(BODY);
    eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 3);

    ObjectNode cancelled = server.object(cancel(queued));

    schemas.check("ResponseResource", cancelled);
    assertThat(cancelled.get("status").textValue()).isEqualTo("cancelled");
    assertThat(ResponsesServer.text(cancelled)).startsWith("Hello world");
    assertThat(cancelled.at("/output/0/status").textValue()).isEqualTo("incomplete");
    assertThat(server.turns.last().cancels).isEqualTo(1);
    assertThat(get(queued)).isEqualTo(cancelled);
    assertThat(server.object(cancel(queued))).isEqualTo(cancelled);
    assertThat(server.get(path(queued) + "?stream=true").statusCode()).isEqualTo(409);
  }

  @Test
  void every_instance_shows_and_cancels_it() {
    server.turns.answerSteadily();
    ObjectNode queued = server.create(BODY);
    eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 3);
    assertThat(elsewhere(queued).get("status").textValue()).isEqualTo("in_progress");

    String cancel = path(queued) + "/cancel";
    ObjectNode cancelled = server.object(server.postLater(server.otherPort(), cancel, "").join());

    assertThat(cancelled.get("status").textValue()).isEqualTo("cancelled");
    assertThat(server.turns.last().cancels).isEqualTo(1);
    assertThat(get(queued)).isEqualTo(cancelled);
    assertThat(elsewhere(queued)).isEqualTo(cancelled);
    assertThat(server.object(cancel(queued))).isEqualTo(cancelled);
  }

  @Test
  void a_deleted_one_stops_and_is_gone() {
    server.turns.answerSteadily();
    ObjectNode queued = server.create(BODY);
    eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 3);

    assertThat(server.delete(path(queued)).statusCode()).isEqualTo(200);

    assertThat(server.turns.last().cancels).isEqualTo(1);
    assertThat(server.get(path(queued)).statusCode()).isEqualTo(404);
    assertThat(server.delete(path(queued)).statusCode()).isEqualTo(404);
  }

  @Test
  void one_that_is_deleted_while_it_is_stored_is_gone_afterwards() {
    server.session.mood(FakeSession.Mood.HOLDING);
    ObjectNode queued = server.create(BODY);
    eventually(() -> server.session.heldAnswers() == 1);

    server.session.mood(FakeSession.Mood.WILLING);
    CompletableFuture<HttpResponse<String>> deleted = server.deleteLater(path(queued));
    for (int i = 0; i < 30; i++) {
      assertThat(status(queued)).isEqualTo("in_progress");
    }
    assertThat(deleted).isNotDone();
    server.session.release();

    assertThat(deleted.join().statusCode()).isEqualTo(200);
    assertThat(server.get(path(queued)).statusCode()).isEqualTo(404);
  }

  @Test
  void a_failed_one_is_found_as_failed() {
    server.turns.failWith(new MeshException(FailureKind.DEVICE_LOST, "device_lost", "Gone."));
    ObjectNode queued = server.create(BODY);
    eventually(() -> status(queued).equals("failed"));

    ObjectNode failed = get(queued);
    schemas.check("ResponseResource", failed);
    assertThat(failed.at("/error/code").textValue()).isEqualTo("device_lost");
  }

  @Test
  void one_that_is_refused_is_found_as_failed() {
    server.turns.refuseWith(
        new MeshException(FailureKind.INVALID_REQUEST, "context_length_exceeded", "Too long."));
    ObjectNode queued = server.create(BODY);
    eventually(() -> status(queued).equals("failed"));
    assertThat(get(queued).at("/error/code").textValue()).isEqualTo("context_length_exceeded");
  }

  /** What is stored has the name of a model; a client's own may be none that can be. */
  @Test
  void one_for_a_model_that_is_not_there_is_refused_at_once() {
    for (String model : List.of("n", "\\u0000")) {
      HttpResponse<String> refused = server.post(BODY.replace("'m'", "'%s'".formatted(model)));
      assertThat(refused.statusCode()).isEqualTo(404);
      assertThat(refused.body()).contains("model_not_found");
    }
    assertThat(server.session.size()).isZero();
    assertThat(server.turns.started()).isZero();
  }

  @Test
  void nobody_else_sees_or_cancels_it() {
    server.turns.answerSteadily();
    ObjectNode queued = server.create(BODY);

    assertThat(server.get(path(queued), "tenant", "b").statusCode()).isEqualTo(404);
    assertThat(server.postTo(path(queued) + "/cancel", "", "tenant", "b").statusCode())
        .isEqualTo(404);
    assertThat(status(queued)).isIn("queued", "in_progress");
    cancel(queued);
  }

  @Test
  void a_tenant_has_a_bounded_number_of_them_and_each_end_makes_room() {
    server.turns.answerSteadily();
    ObjectNode last = server.create(BODY);
    for (int i = 1; i < 16; i++) {
      last = server.create(BODY);
    }

    HttpResponse<String> refused = server.post(BODY);

    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(server.object(refused).at("/error/code").textValue())
        .isEqualTo("background_exceeded");
    assertThat(server.post(BODY, "tenant", "b").statusCode()).isEqualTo(200);
    cancel(last);
    assertThat(server.post(BODY).statusCode()).isEqualTo(200);
  }

  @Test
  void a_streamed_one_has_all_events_and_can_be_read_again() {
    HttpResponse<String> stream =
        server.post("{'model':'m','input':'hi','background':true,'stream':true}");
    List<ObjectNode> events = server.events(stream);

    events.forEach(schemas::checkEvent);
    assertThat(events).hasSize(10);
    ObjectNode response = (ObjectNode) events.getLast().get("response");
    assertThat(server.get(path(response) + "?stream=true").body()).isEqualTo(stream.body());
  }

  @Test
  void a_streamed_one_goes_on_when_its_client_leaves() throws IOException {
    server.turns.answerSteadily();
    String body =
        ResponsesServer.quoted("{'model':'m','input':'hi','background':true,'stream':true}");
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      socket
          .getOutputStream()
          .write(
              ("POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                      + "Content-Length: %d\r\n\r\n%s".formatted(body.length(), body))
                  .getBytes(StandardCharsets.UTF_8));
      eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 5);
      socket.setSoLinger(true, 0);
    }
    int sent = server.turns.last().sent;
    eventually(() -> server.turns.last().sent > sent + 1_000);
    assertThat(server.turns.last().cancels).isZero();
    server.turns.answerEndlessly(false);
    eventually(() -> server.session.size() == 1);
  }

  @Test
  void only_a_response_in_the_background_can_be_cancelled() {
    ObjectNode response = server.create("{'model':'m','input':'hi'}");

    assertThat(cancel(response).statusCode()).isEqualTo(400);
    assertThat(server.postTo("/v1/responses/resp_0/cancel", "").statusCode()).isEqualTo(404);
  }

  private HttpResponse<String> cancel(ObjectNode response) {
    return server.postTo(path(response) + "/cancel", "");
  }

  private ObjectNode get(ObjectNode response) {
    return server.object(server.get(path(response)));
  }

  private ObjectNode elsewhere(ObjectNode response) {
    return server.object(server.getLater(server.otherPort(), path(response)).join());
  }

  private String status(ObjectNode response) {
    return get(response).path("status").asText();
  }

  private static String path(ObjectNode response) {
    return "/v1/responses/" + response.get("id").textValue();
  }
}
