package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Usage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers that are more than one message. */
class ResponseItemsOfAnswerTest {
  private static final String EVERYTHING = "[hm, é]Let me see.<w|{\"at\":\"🦙\"}><t|{}>";

  @Test
  void the_items_of_an_answer_follow_one_another_from_added_to_done() {
    List<ObjectNode> events = all("[hm]ok<w|{}>", 1, FinishReason.END);

    assertThat(events)
        .extracting(event -> event.get("type").textValue())
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.reasoning.delta",
            "response.reasoning.delta",
            "response.reasoning.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed");
    for (int i = 0; i < events.size(); i++) {
      assertThat(events.get(i).get("sequence_number").intValue()).isEqualTo(i);
    }
    assertThat(events.get(9).get("output_index").intValue()).isEqualTo(1);
    assertThat(response(events).at("/usage/output_tokens_details/reasoning_tokens").intValue())
        .isEqualTo(3);
  }

  @Test
  void a_call_is_added_with_its_name_and_its_arguments_add_up() {
    List<ObjectNode> events = all("<w|{\"a\":1}>", 1, FinishReason.END);

    JsonNode added = events.get(2).get("item");
    JsonNode done = events.get(events.size() - 2).get("item");
    assertThat(added.get("name").textValue()).isEqualTo("w");
    assertThat(added.get("arguments").textValue()).isEmpty();
    assertThat(added.get("status").textValue()).isEqualTo("in_progress");
    assertThat(done.get("arguments").textValue()).isEqualTo("{\"a\":1}");
    assertThat(done.get("id")).isEqualTo(added.get("id"));
    assertThat(done.get("call_id")).isEqualTo(added.get("call_id"));
    assertThat(done.get("status").textValue()).isEqualTo("completed");
    assertThat(events.get(events.size() - 3).get("name")).isEqualTo(done.get("name"));
    assertThat(response(events).get("output")).containsExactly(done);
  }

  @Test
  void ids_of_items_and_calls_are_different_and_follow_from_the_response() {
    JsonNode output = response(all(EVERYTHING, 1, FinishReason.END)).get("output");

    assertThat(output)
        .extracting(item -> item.get("id").textValue())
        .containsExactly("rs_1_o0", "msg_1_o1", "fc_1_o2", "fc_1_o3");
    assertThat(output.get(2).get("call_id").textValue()).isEqualTo("call_1_o2");
    assertThat(output.get(3).get("call_id").textValue()).isEqualTo("call_1_o3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[hm", "[hm]text", "[hm]text<w|{\"a\"", "text<w|{}><t|", "", "<w"})
  void the_last_item_of_an_answer_cut_off_is_incomplete_and_no_other(String text) {
    JsonNode response = response(all(text, 1, FinishReason.LENGTH));

    assertThat(response.get("status").textValue()).isEqualTo("incomplete");
    JsonNode output = response.get("output");
    for (int i = 0; i < output.size(); i++) {
      assertThat(output.get(i).get("status").textValue())
          .isEqualTo(i == output.size() - 1 ? "incomplete" : "completed");
    }
  }

  @Test
  void what_looked_like_a_call_and_is_none_is_text() {
    JsonNode response = response(all("a<w", 1, FinishReason.END));

    assertThat(response.get("output")).hasSize(1);
    assertThat(ResponsesServer.text(response)).isEqualTo("a<w");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"[hm", "[hm]text", "[hm]text<w|{\"a\"", "text<w|{}><t|", "<w|>", "a[b]c[d]e"})
  void every_event_is_valid_by_the_specification(String text) {
    ResponseSchemas schemas = ResponseSchemas.load();
    for (FinishReason reason : List.of(FinishReason.END, FinishReason.LENGTH)) {
      all(text, 1, reason).forEach(schemas::checkEvent);
    }
    ResponseStream failing = stream(true);
    failing.started(new MarkedParser()).forEach(schemas::checkEvent);
    failing.tokens(tokens(text, 1)).forEach(schemas::checkEvent);
    failing
        .failed(new MeshException(FailureKind.DEVICE_LOST, "device_lost", "Gone."))
        .forEach(schemas::checkEvent);
  }

  /** For every size of tokens, in bytes. */
  @Test
  void deltas_add_up_to_the_same_items_however_the_answer_is_cut_into_tokens() {
    JsonNode whole = withoutLogprobs(response(all(EVERYTHING, 1_000, FinishReason.END)));
    for (int size = 1; size < EVERYTHING.length(); size++) {
      List<ObjectNode> events = all(EVERYTHING, size, FinishReason.END);

      assertThat(withoutLogprobs(response(events))).isEqualTo(whole);
      assertThat(joinedDeltas(events))
          .containsExactly("hm, é", "Let me see.", "{\"at\":\"🦙\"}", "{}");
    }
  }

  @Test
  void events_do_not_depend_on_how_tokens_are_grouped() {
    long seed = Long.getLong("seed", 23);
    SplittableRandom random = new SplittableRandom(seed);
    List<TurnToken> tokens = tokens(EVERYTHING, 3);
    List<ObjectNode> alone = all(EVERYTHING, 3, FinishReason.END);
    for (int round = 0; round < 500; round++) {
      ResponseStream stream = stream(true);
      List<ObjectNode> events = new ArrayList<>(stream.started(new MarkedParser()));
      for (int from = 0; from < tokens.size(); ) {
        int to = Math.min(tokens.size(), from + random.nextInt(5));
        events.addAll(stream.tokens(tokens.subList(from, to)));
        from = to;
      }
      events.addAll(end(stream, FinishReason.END));
      assertThat(events)
          .as("repeat with: mvn test -Dtest=ResponseItemsOfAnswerTest -Dseed=%d", seed)
          .isEqualTo(alone);
    }
  }

  @Test
  void log_probabilities_are_those_of_the_messages_tokens() {
    List<ObjectNode> events = all("[h]a<w|{}>b", 1, FinishReason.END);

    JsonNode output = response(events).get("output");
    assertThat(output).hasSize(4);
    assertThat(output.at("/1/content/0/logprobs"))
        .extracting(logprob -> logprob.get("token").textValue())
        .containsExactly("a");
    assertThat(output.at("/3/content/0/logprobs"))
        .extracting(logprob -> logprob.get("token").textValue())
        .containsExactly("b");
  }

  private static List<String> joinedDeltas(List<ObjectNode> events) {
    TreeMap<Integer, String> joined = new TreeMap<>();
    for (ObjectNode event : events) {
      if (event.get("type").textValue().endsWith(".delta")) {
        joined.merge(
            event.get("output_index").intValue(), event.get("delta").textValue(), String::concat);
      }
    }
    return List.copyOf(joined.values());
  }

  private static JsonNode withoutLogprobs(JsonNode response) {
    ((ObjectNode) response).remove("usage");
    for (JsonNode item : response.get("output")) {
      for (JsonNode part : item.path("content")) {
        ((ObjectNode) part).remove("logprobs");
      }
    }
    return response;
  }

  private static JsonNode response(List<ObjectNode> events) {
    return events.getLast().get("response");
  }

  private static List<ObjectNode> all(String text, int tokenBytes, FinishReason reason) {
    ResponseStream stream = stream(true);
    List<ObjectNode> events = new ArrayList<>(stream.started(new MarkedParser()));
    events.addAll(stream.tokens(tokens(text, tokenBytes)));
    events.addAll(end(stream, reason));
    return events;
  }

  private static List<ObjectNode> end(ResponseStream stream, FinishReason reason) {
    List<ObjectNode> events = new ArrayList<>(stream.ended(reason, new Usage(7, 3, 5), 1));
    events.add(stream.last());
    return events;
  }

  private static List<TurnToken> tokens(String text, int tokenBytes) {
    byte[] all = text.getBytes(StandardCharsets.UTF_8);
    List<TurnToken> tokens = new ArrayList<>();
    for (int from = 0; from < all.length; from += tokenBytes) {
      byte[] bytes =
          java.util.Arrays.copyOfRange(all, from, Math.min(all.length, from + tokenBytes));
      tokens.add(new TurnToken(1, bytes, -0.5f, List.of()));
    }
    return tokens;
  }

  private static ResponseStream stream(boolean logprobs) {
    ObjectNode body = Json.object().put("model", "glass").put("input", "hello");
    ObjectNode echo =
        ResponsesReaderTest.reader().read(body, ResponsesReader.Transport.HTTP).echo();
    return new ResponseStream(
        new ResponseResource(new ResponseId("resp_1"), 1_700_000_000, echo), logprobs);
  }
}
