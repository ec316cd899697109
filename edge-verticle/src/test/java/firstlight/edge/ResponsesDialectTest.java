package firstlight.edge;

import static firstlight.edge.ResponsesServer.await;
import static firstlight.edge.ResponsesServer.eventually;
import static firstlight.edge.ResponsesServer.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.ChatMessage;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TextPolicy;
import io.vertx.core.Promise;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponsesDialectTest {
  private static final String HELLO = "{'model':'m','input':'hi'}";
  private static final String HELLO_STREAMED = "{'model':'m','input':'hi','stream':true}";
  private static final MeshException LOST =
      new MeshException(FailureKind.DEVICE_LOST, "device_lost", "The device is gone. Try again.");

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
  void a_response_is_valid_by_the_specification_and_found_again_by_its_id() {
    ObjectNode response = server.create(HELLO);
    ResponseSchemas.load().check("ResponseResource", response);
    assertThat(text(response)).isEqualTo("Hello world");
    assertThat(response.get("status").textValue()).isEqualTo("completed");
    assertThat(response.at("/usage/total_tokens").intValue()).isEqualTo(11);
    String id = response.get("id").textValue();
    assertThat(server.object(server.get("/v1/responses/" + id))).isEqualTo(response);
    StoredTurn turn = server.session.turn(id);
    assertThat(turn.status()).isEqualTo("completed");
    assertThat(turn.parent()).isNull();
    assertThat(turn.usage().prompt()).isEqualTo(9);
  }

  @Test
  void a_stream_has_valid_events_and_ends_with_the_stored_response() {
    ResponseSchemas schemas = ResponseSchemas.load();
    HttpResponse<String> answer = server.post(HELLO_STREAMED);

    assertThat(answer.headers().firstValue("content-type"))
        .hasValueSatisfying(type -> assertThat(type).startsWith("text/event-stream"));
    List<ObjectNode> events = server.events(answer);
    events.forEach(schemas::checkEvent);
    assertThat(events).hasSize(10);
    ObjectNode last = (ObjectNode) events.getLast().get("response");
    assertThat(server.object(server.get("/v1/responses/" + last.get("id").textValue())))
        .isEqualTo(last);
  }

  @Test
  void an_answer_cut_off_is_incomplete_and_can_be_gone_on_from() {
    server.turns.endWith(FinishReason.LENGTH);
    ObjectNode response = server.create(HELLO);

    assertThat(response.get("status").textValue()).isEqualTo("incomplete");
    assertThat(response.at("/incomplete_details/reason").textValue())
        .isEqualTo("max_output_tokens");
    server.create(after(response, "go on"));
    assertThat(messages()).hasSize(3);
  }

  @Test
  void the_last_event_comes_only_when_the_turn_is_stored() throws IOException {
    server.session.mood(FakeSession.Mood.HOLDING);
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      request(socket, HELLO_STREAMED);
      StringBuilder read = new StringBuilder();
      readUntil(socket, read, "response.output_item.done");
      eventually(() -> server.session.heldAnswers() >= 1);
      assertThat(socket.getInputStream().available()).isZero();
      assertThat(read).doesNotContain("response.completed");

      server.session.release();

      readUntil(socket, read, "response.completed");
    }
  }

  @Test
  void a_turn_that_cannot_be_stored_fails_its_response() {
    server.session.mood(FakeSession.Mood.FAILING);
    assertNotStored(server);
  }

  @Test
  void a_session_that_does_not_answer_counts_as_away() {
    try (ResponsesServer hasty =
        new ResponsesServer(UnaryOperator.identity(), Duration.ofMillis(200))) {
      hasty.session.mood(FakeSession.Mood.SILENT);
      assertNotStored(hasty);
      HttpResponse<String> answer =
          hasty.post("{'model':'m','input':'x','previous_response_id':'resp_1'}");
      assertThat(answer.statusCode()).isEqualTo(503);
    }
  }

  private static void assertNotStored(ResponsesServer server) {
    List<ObjectNode> events = server.events(server.post(HELLO_STREAMED));
    HttpResponse<String> whole = server.post(HELLO);

    assertThat(events.getLast().get("type").textValue()).isEqualTo("response.failed");
    assertThat(events.getLast().at("/response/error/code").textValue())
        .isEqualTo("storage_unavailable");
    assertThat(events.get(events.size() - 2).at("/error/code").textValue())
        .isEqualTo("storage_unavailable");
    events.forEach(ResponseSchemas.load()::checkEvent);
    assertThat(whole.statusCode()).isEqualTo(503);
    assertThat(whole.headers().firstValue("Retry-After")).isPresent();
  }

  @Test
  void a_response_that_is_not_to_be_stored_needs_no_store_and_is_not_found_again() {
    server.session.mood(FakeSession.Mood.FAILING);
    int before = server.session.size();

    ObjectNode response = server.create("{'model':'m','input':'hi','store':false}");

    server.session.mood(FakeSession.Mood.WILLING);
    assertThat(server.session.size()).isEqualTo(before);
    assertThat(server.turns.last().request().origin().text()).isEqualTo(TextPolicy.NONE);
    assertThat(server.turns.last().request().origin().stored()).isFalse();
    assertNotFound(server.get("/v1/responses/" + response.get("id").textValue()));
  }

  @Test
  void a_response_builds_on_all_before_it_without_their_instructions() {
    server.turns.answer("one");
    ObjectNode first =
        server.create("{'model':'m','input':'a','instructions':'Speak like a pirate.'}");
    server.turns.answer("two");
    ObjectNode second = server.create(after(first, "b"));
    server.create(after(second, "c").replace("'input'", "'instructions':'Be brief.','input'"));

    assertThat(messages())
        .containsExactly(
            new ChatMessage("system", "Be brief."),
            new ChatMessage("user", "a"),
            new ChatMessage("assistant", "one"),
            new ChatMessage("user", "b"),
            new ChatMessage("assistant", "two"),
            new ChatMessage("user", "c"));
    assertThat(server.turns.last().request().origin().previous())
        .hasToString(second.get("id").textValue());
    assertThat(second.get("previous_response_id")).isEqualTo(first.get("id"));
    assertThat(second.get("instructions").isNull()).isTrue();
  }

  @Test
  void two_responses_may_build_on_the_same_one() {
    ObjectNode first = server.create(HELLO);

    ObjectNode left = server.create(after(first, "left"));
    ObjectNode right = server.create(after(first, "right"));

    assertThat(messages()).hasSize(3).last().isEqualTo(new ChatMessage("user", "right"));
    for (ObjectNode one : List.of(left, right)) {
      assertThat(server.session.turn(one.get("id").textValue()).parent())
          .hasToString(first.get("id").textValue());
    }
  }

  @Test
  void a_previous_response_that_is_not_there_is_not_found_before_a_stream_begins() {
    int started = server.turns.started();
    for (boolean stream : new boolean[] {false, true}) {
      HttpResponse<String> answer =
          server.post(
              "{'model':'m','input':'x','previous_response_id':'resp_0','stream':%s}"
                  .formatted(stream));

      assertThat(answer.statusCode()).isEqualTo(404);
      assertThat(server.object(answer).at("/error/code").textValue())
          .isEqualTo("previous_response_not_found");
      assertThat(server.object(answer).at("/error/param").textValue())
          .isEqualTo("previous_response_id");
    }
    assertThat(server.turns.started()).isEqualTo(started);
  }

  @Test
  void responses_of_another_tenant_do_not_exist() {
    ObjectNode response = server.create(HELLO);
    String path = "/v1/responses/" + response.get("id").textValue();

    assertNotFound(server.get(path, "tenant", "b"));
    assertNotFound(server.get(path + "/input_items", "tenant", "b"));
    assertNotFound(server.delete(path, "tenant", "b"));
    assertNotFound(server.post(after(response, "x"), "tenant", "b"));
    assertThat(server.get(path).statusCode()).isEqualTo(200);
  }

  @Test
  void a_deleted_response_is_gone() {
    ObjectNode response = server.create(HELLO);
    String path = "/v1/responses/" + response.get("id").textValue();

    HttpResponse<String> deleted = server.delete(path);

    assertThat(deleted.statusCode()).isEqualTo(200);
    assertThat(server.object(deleted).get("deleted").booleanValue()).isTrue();
    assertNotFound(server.get(path));
    assertNotFound(server.delete(path));
    assertNotFound(server.post(after(response, "x")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"resp_0", "resp%20a", "%00", "resp_%E2%80%A8"})
  void ids_that_no_response_has_are_not_found(String id) {
    assertNotFound(server.get("/v1/responses/" + id));
    assertNotFound(server.delete("/v1/responses/" + id));
  }

  @Test
  void the_input_of_a_response_is_listed_in_pages() {
    ObjectNode response =
        server.create(
            "{'model':'m','input':[{'role':'user','content':'1'},{'role':'user','content':'2'},"
                + "{'role':'user','content':'3'}]}");
    String path = "/v1/responses/" + response.get("id").textValue() + "/input_items";

    ObjectNode newest = server.object(server.get(path + "?limit=2"));
    ObjectNode rest =
        server.object(server.get(path + "?limit=2&after=" + newest.get("last_id").textValue()));

    assertThat(newest.at("/data/0/content/0/text").textValue()).isEqualTo("3");
    assertThat(newest.get("has_more").booleanValue()).isTrue();
    assertThat(rest.get("data")).hasSize(1);
    assertThat(rest.get("has_more").booleanValue()).isFalse();
    assertThat(server.object(server.get(path + "?order=asc")).get("first_id"))
        .isEqualTo(rest.get("first_id"));
    assertThat(server.get(path + "?limit=0").statusCode()).isEqualTo(400);
    assertThat(server.get(path + "?order=up").statusCode()).isEqualTo(400);
    assertThat(server.get(path + "?after=x").statusCode()).isEqualTo(400);
  }

  @Test
  void a_refusal_before_the_first_event_is_a_status() {
    server.turns.refuseWith(
        new MeshException(FailureKind.OVERLOADED, "overloaded", "Full.", null, 2_500));
    for (String body : List.of(HELLO, HELLO_STREAMED)) {
      HttpResponse<String> answer = server.post(body);

      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.headers().firstValue("retry-after-ms")).hasValue("2500");
    }
  }

  @Test
  void a_failure_in_a_stream_is_an_error_event_and_a_failed_response() {
    server.turns.failWith(LOST);
    List<ObjectNode> events = server.events(server.post(HELLO_STREAMED));

    assertThat(events)
        .extracting(event -> event.get("type").textValue())
        .endsWith("response.output_text.delta", "error", "response.failed");
    assertThat(events.get(events.size() - 2).at("/error/type").textValue())
        .isEqualTo("model_error");
    assertThat(text(events.getLast().get("response"))).isEqualTo("Hello world");
    assertThat(server.post(HELLO).statusCode()).isEqualTo(503);
  }

  @Test
  void a_client_that_leaves_stops_its_turn_once() throws IOException {
    server.turns.answerEndlessly(true);
    for (String body : List.of(HELLO, HELLO_STREAMED)) {
      int before = server.turns.started();
      try (Socket socket = new Socket("127.0.0.1", server.port())) {
        request(socket, body);
        eventually(() -> server.turns.started() > before && server.turns.last().sent > 5);
        socket.setSoLinger(true, 0);
      }
      eventually(() -> server.turns.last().over());
      assertThat(server.turns.last().cancels).isEqualTo(1);
    }
  }

  @Test
  void a_response_cancelled_while_its_history_is_looked_up_starts_nothing() {
    ObjectNode first = server.create(HELLO);
    int before = server.turns.started();
    server.session.mood(FakeSession.Mood.HOLDING);
    Promise<Void> cancelled = Promise.promise();
    server.vertx.runOnContext(
        _ -> {
          ResponseRun run = server.run(after(first, "x"));
          run.start(null);
          run.cancel();
          cancelled.complete();
        });
    await(cancelled.future());
    eventually(() -> server.session.heldAnswers() >= 1);
    server.session.mood(FakeSession.Mood.WILLING);
    server.session.release();
    // Whoever comes after the cancelled one finds that nothing was started for it.
    server.create(after(first, "y"));

    assertThat(server.turns.started()).isEqualTo(before + 1);
  }

  @Test
  void log_probabilities_stay_with_the_response_and_are_no_ballast_of_its_history() {
    ObjectNode response =
        server.create("{'model':'m','input':'hi','include':['message.output_text.logprobs']}");
    String id = response.get("id").textValue();

    assertThat(response.at("/output/0/content/0/logprobs")).hasSize(2);
    assertThat(server.object(server.get("/v1/responses/" + id))).isEqualTo(response);
    assertThat(server.session.turn(id).output()).contains("Hello world").doesNotContain("logprob");
  }

  @Test
  void what_is_asked_for_and_how_goes_to_the_turn() {
    server.create(
        "{'model':'m','input':'hi','temperature':0,'max_output_tokens':17,'top_logprobs':2,"
            + "'include':['message.output_text.logprobs']}");
    TurnRequest request = server.turns.last().request();
    TurnOrigin origin = request.origin();
    assertThat(List.of(request.outputMax().getAsInt(), request.sampling().topLogprobs()))
        .containsExactly(17, 2);
    assertThat(List.of(origin.dialect(), origin.streamed(), origin.stored()))
        .containsExactly("responses", false, true);
    assertThat(((TurnPrompt.Conversation) origin.input().getFirst()).messages())
        .containsExactly(new ChatMessage("user", "hi"));
  }

  @Test
  void a_plain_get_is_told_to_post_or_to_upgrade() {
    assertThat(server.get("/v1/responses").statusCode()).isEqualTo(426);
  }

  private static void assertNotFound(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(404);
  }

  private static String after(ObjectNode response, String input) {
    return "{'model':'m','previous_response_id':'%s','input':'%s'}"
        .formatted(response.get("id").textValue(), input);
  }

  private static List<ChatMessage> messages() {
    return server.turns.last().messages();
  }

  private static void request(Socket socket, String body) throws IOException {
    String request =
        "POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + "Content-Length: %d\r\n\r\n%s".formatted(body.length(), ResponsesServer.quoted(body));
    socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
  }

  private static void readUntil(Socket socket, StringBuilder read, String text) throws IOException {
    socket.setSoTimeout(10_000);
    byte[] piece = new byte[4_096];
    while (read.indexOf(text) < 0) {
      int length = socket.getInputStream().read(piece);
      if (length < 0) {
        throw new AssertionError("the answer ended: " + read);
      }
      read.append(new String(piece, 0, length, StandardCharsets.UTF_8));
    }
  }
}
