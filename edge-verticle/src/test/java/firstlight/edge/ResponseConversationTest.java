package firstlight.edge;

import static firstlight.edge.ResponsesServer.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.ChatMessage;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses that build on a conversation and add to it. */
class ResponseConversationTest {
  private static final String PATH = "/v1/conversations";
  private static final String GREETED = "{'items':[{'role':'user','content':'a','id':'msg_a'}]}";

  private ResponsesServer server;

  @BeforeEach
  void start() {
    server = new ResponsesServer();
  }

  @AfterEach
  void stop() {
    server.turns.answerEndlessly(false);
    server.close();
  }

  @Test
  void each_builds_on_all_items_and_adds_its_own_behind_them() {
    String id = conversation(GREETED);
    ObjectNode first = server.create(body("b", "'%s'".formatted(id)));
    assertThat(first.get("conversation")).isEqualTo(Json.object().put("id", id));
    assertThat(first.get("previous_response_id").isNull()).isTrue();
    assertThat(server.turns.last().messages())
        .containsExactly(new ChatMessage("user", "a"), new ChatMessage("user", "b"));
    assertThat(texts(id)).containsExactly("a", "b", "Hello world");
    assertThat(items(id).at("/data/2")).isEqualTo(withoutLogprobs(first.at("/output/0")));

    server.create(body("c", "{'id':'%s'}".formatted(id)));

    assertThat(server.turns.last().messages())
        .containsExactly(
            new ChatMessage("user", "a"),
            new ChatMessage("user", "b"),
            new ChatMessage("assistant", "Hello world"),
            new ChatMessage("user", "c"));
    assertThat(texts(id)).containsExactly("a", "b", "Hello world", "c", "Hello world");
    items(id)
        .get("data")
        .forEach(item -> ResponseSchemas.load().check("ItemField", (ObjectNode) item));
  }

  @Test
  void a_streamed_one_adds_once_and_before_its_last_event() throws IOException {
    String id = conversation("{}");
    server.events(server.post(with(body("a", "'%s'".formatted(id)), "'stream':true")));
    assertThat(texts(id)).containsExactly("a", "Hello world");
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'b','conversation':'%s'".formatted(id));
      JsonNode last = client.response().getLast();
      assertThat(last.at("/response/conversation/id").textValue()).isEqualTo(id);
      assertThat(texts(id)).containsExactly("a", "Hello world", "b", "Hello world");
    }
  }

  @Test
  void no_new_input_is_needed() {
    String id = conversation(GREETED);
    server.create("{'model':'m','conversation':'%s'}".formatted(id));
    assertThat(texts(id)).containsExactly("a", "Hello world");
  }

  @ParameterizedTest
  @ValueSource(strings = {"'conv_0'", "{'id':'conv_0'}", "'not an id'", "''"})
  void one_that_does_not_exist_is_not_found(String conversation) throws IOException {
    for (String more : List.of("'stream':false", "'stream':true")) {
      HttpResponse<String> answer = server.post(with(body("a", conversation), more));
      assertThat(answer.statusCode()).isEqualTo(404);
      assertMissing(server.object(answer).get("error"));
    }
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'input':'a','conversation':" + conversation);
      ObjectNode frame = client.next();
      ResponseSchemas.load().check("WebSocketErrorEvent", frame);
      assertThat(frame.get("status").intValue()).isEqualTo(404);
      assertMissing(frame.get("error"));
    }
    assertThat(server.turns.started()).isZero();
  }

  @Test
  void another_tenants_does_not_exist() {
    String id = conversation(GREETED);
    HttpResponse<String> answer = server.post(body("b", "'%s'".formatted(id)), "tenant", "b");
    assertThat(answer.statusCode()).isEqualTo(404);
    assertMissing(server.object(answer).get("error"));
    assertThat(texts(id)).containsExactly("a");
  }

  @Test
  void what_does_not_go_together_is_refused_with_a_remedy() {
    String id = conversation(GREETED);
    ObjectNode first = server.create(body("b", "'%s'".formatted(id)));
    String body = body("c", "'%s'".formatted(id));
    String previous = "'previous_response_id':" + first.get("id");
    for (String more : List.of(previous, "'store':false")) {
      HttpResponse<String> answer = server.post(with(body, more));
      assertThat(answer.statusCode()).isEqualTo(400);
      JsonNode error = server.object(answer).get("error");
      assertThat(error.get("param").textValue()).isEqualTo("conversation");
      assertThat(error.get("message").textValue()).containsAnyOf("send one of", "leave store out");
    }
  }

  @Test
  void one_in_the_background_adds_when_it_has_ended() {
    String id = conversation(GREETED);
    server.turns.answerSteadily();
    ObjectNode queued = server.create(with(body("b", "'%s'".formatted(id)), "'background':true"));
    assertThat(queued.at("/conversation/id").textValue()).isEqualTo(id);
    eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 2);
    assertThat(texts(id)).containsExactly("a");
    server.turns.answerEndlessly(false);
    eventually(() -> texts(id).size() > 1);
    assertThat(texts(id).get(1)).isEqualTo("b");
    assertThat(texts(id).get(2)).startsWith("Hello world");
    assertThat(texts(id)).hasSize(3);
    assertThat(status(queued)).isEqualTo("completed");
  }

  @Test
  void a_cancelled_or_failed_one_adds_nothing_so_that_it_can_be_asked_again() {
    String id = conversation(GREETED);
    String body = with(body("b", "'%s'".formatted(id)), "'background':true");
    server.turns.answerSteadily();
    ObjectNode cancelled = server.create(body);
    eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 2);
    server.postTo("/v1/responses/%s/cancel".formatted(cancelled.get("id").textValue()), "");
    assertThat(status(cancelled)).isEqualTo("cancelled");

    server.turns.answerEndlessly(false);
    server.turns.failWith(new MeshException(FailureKind.DEVICE_LOST, "device_lost", "Gone."));
    ObjectNode failed = server.create(body);
    eventually(() -> status(failed).equals("failed"));

    assertThat(texts(id)).containsExactly("a");
  }

  @Test
  void what_was_cut_off_is_added_as_incomplete() {
    String id = conversation("{}");
    server.turns.endWith(FinishReason.LENGTH);
    server.create(body("a", "'%s'".formatted(id)));
    assertThat(texts(id)).containsExactly("a", "Hello world");
    assertThat(items(id).at("/data/1/status").textValue()).isEqualTo("incomplete");
  }

  @Test
  void of_two_at_once_neither_sees_the_other_and_both_are_added() {
    String id = conversation(GREETED);
    String body = with(body("b", "'%s'".formatted(id)), "'background':true");
    server.turns.answerSteadily();
    ObjectNode first = server.create(body);
    ObjectNode second = server.create(body);
    eventually(() -> server.turns.started() == 2);
    assertThat(server.turns.last().messages()).hasSize(2);
    server.turns.answerEndlessly(false);
    eventually(() -> Stream.of(first, second).allMatch(one -> status(one).equals("completed")));
    assertThat(texts(id)).hasSize(5);
    assertThat(texts(id).get(1)).isEqualTo("b");
    assertThat(texts(id).get(3)).isEqualTo("b");
  }

  @Test
  void one_whose_conversation_is_deleted_meanwhile_fails_and_is_not_stored() {
    String id = conversation(GREETED);
    server.turns.answerSteadily();
    ObjectNode queued = server.create(with(body("b", "'%s'".formatted(id)), "'background':true"));
    eventually(() -> server.turns.started() == 1);
    assertThat(server.delete(PATH + "/" + id).statusCode()).isEqualTo(200);
    server.turns.answerEndlessly(false);
    eventually(() -> status(queued).equals("failed"));
    assertThat(shown(queued).at("/error/code").textValue()).isEqualTo("conversation_not_found");
  }

  @Test
  void it_outlives_its_conversation_and_brings_its_own_items_only() {
    String id = conversation(GREETED);
    ObjectNode response = server.create(body("b", "'%s'".formatted(id)));
    server.delete(PATH + "/" + id);
    assertThat(shown(response)).isEqualTo(response);

    server.create(
        "{'model':'m','input':'c','previous_response_id':%s}".formatted(response.get("id")));

    assertThat(server.turns.last().messages())
        .containsExactly(
            new ChatMessage("user", "b"),
            new ChatMessage("assistant", "Hello world"),
            new ChatMessage("user", "c"));
  }

  @Test
  void no_two_items_have_one_id_and_references_are_not_repeated() {
    String id = conversation(GREETED);
    String input =
        "[{'role':'user','content':'b','id':'msg_a'},{'type':'item_reference','id':'msg_a'}]";
    server.create("{'model':'m','conversation':'%s','input':%s}".formatted(id, input));
    assertThat(texts(id)).containsExactly("a", "b", "Hello world");
    assertThat(items(id).at("/data/0/id").textValue()).isEqualTo("msg_a");
    assertThat(items(id).at("/data/1/id").textValue()).startsWith("msg_").isNotEqualTo("msg_a");
  }

  @Test
  void a_removed_item_is_told_to_no_model() {
    String id = conversation(GREETED);
    server.delete("%s/%s/items/msg_a".formatted(PATH, id));
    server.create(body("b", "'%s'".formatted(id)));
    assertThat(server.turns.last().messages()).containsExactly(new ChatMessage("user", "b"));
  }

  @Test
  void a_warm_up_adds_what_it_was_given_and_no_empty_turn() throws IOException {
    String id = conversation(GREETED);
    int turns = server.session.size();
    try (WebSocketClient client = new WebSocketClient(server)) {
      client.create("'generate':false,'conversation':'%s'".formatted(id));
      client.response();
      assertThat(server.session.size()).isEqualTo(turns + 1);
      client.create("'input':'b','generate':false,'conversation':'%s'".formatted(id));
      client.response();
    }
    assertThat(texts(id)).containsExactly("a", "b");
  }

  @Test
  void its_tokens_are_counted() {
    String id = conversation(GREETED);
    ObjectNode counted =
        server.object(server.postTo("/v1/responses/input_tokens", body("b", "'%s'".formatted(id))));
    assertThat(counted.get("input_tokens").intValue()).isEqualTo(2);
    assertThat(texts(id)).containsExactly("a");
  }

  private void assertMissing(JsonNode error) {
    assertThat(error.get("code").textValue()).isEqualTo("conversation_not_found");
    assertThat(error.get("param").textValue()).isEqualTo("conversation");
  }

  private String conversation(String body) {
    return server.object(server.postTo(PATH, body)).get("id").textValue();
  }

  private static String body(String input, String conversation) {
    return "{'model':'m','input':'%s','conversation':%s}".formatted(input, conversation);
  }

  private static String with(String body, String field) {
    return "%s,%s}".formatted(body.substring(0, body.length() - 1), field);
  }

  private ObjectNode items(String conversation) {
    return server.object(server.get("%s/%s/items?order=asc".formatted(PATH, conversation)));
  }

  private List<String> texts(String conversation) {
    return items(conversation)
        .get("data")
        .valueStream()
        .map(item -> item.at("/content/0/text").textValue())
        .toList();
  }

  private ObjectNode shown(ObjectNode response) {
    return server.object(server.get("/v1/responses/" + response.get("id").textValue()));
  }

  private String status(ObjectNode response) {
    return shown(response).path("status").asText();
  }

  /** As an Item is kept. */
  private static JsonNode withoutLogprobs(JsonNode item) {
    item.path("content").forEach(part -> ((ObjectNode) part).remove("logprobs"));
    return item;
  }
}
