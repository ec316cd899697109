package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Usage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ResponseStreamTest {
  private static final ResponseId RESPONSE = new ResponseId("resp_1");
  private static final Usage USAGE = new Usage(7, 3, 5);
  private static final MeshException LOST =
      new MeshException(FailureKind.DEVICE_LOST, "device_lost", "The device is gone. Try again.");

  @Test
  void the_events_of_an_answer_come_in_the_order_of_the_specification() {
    List<ObjectNode> events = all(stream(false), tokens("Hel", "lo"), FinishReason.END);

    assertThat(types(events))
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed");
    for (int i = 0; i < events.size(); i++) {
      assertThat(events.get(i).get("sequence_number").intValue()).isEqualTo(i);
    }
    JsonNode response = events.getLast().get("response");
    assertThat(text(response)).isEqualTo("Hello");
    assertThat(response.get("usage").get("input_tokens").intValue()).isEqualTo(7);
    assertThat(response.get("output").get(0)).isEqualTo(events.get(8).get("item"));
  }

  @Test
  void every_event_is_valid_by_the_specification() {
    ResponseSchemas schemas = ResponseSchemas.load();
    for (boolean logprobs : new boolean[] {false, true}) {
      for (FinishReason reason : List.of(FinishReason.END, FinishReason.LENGTH)) {
        all(stream(logprobs), tokens("Hel", "lo"), reason).forEach(schemas::checkEvent);
        all(stream(logprobs), List.of(), reason).forEach(schemas::checkEvent);
      }
    }
    ResponseStream failing = stream(true);
    failing.started(AnswerParser.plain());
    failing.tokens(tokens("a"));
    failing.failed(LOST).forEach(schemas::checkEvent);
    ResponseStream prepared = stream(false);
    prepared.started(AnswerParser.plain());
    prepared.endedWithoutAnswer(1);
    schemas.checkEvent(prepared.last());
  }

  @Test
  void a_missing_key_does_not_pass_the_check_by_the_specification() {
    ResponseSchemas schemas = ResponseSchemas.load();
    ObjectNode event = all(stream(false), tokens("a"), FinishReason.END).getLast();
    ((ObjectNode) event.get("response")).remove("completed_at");

    assertThat(schemas.mistakes("ResponseCompletedStreamingEvent", event))
        .singleElement()
        .asString()
        .contains("completed_at");
  }

  @Test
  void an_answer_cut_off_is_incomplete_with_the_reason() {
    List<ObjectNode> events = all(stream(false), tokens("Hel"), FinishReason.LENGTH);

    assertThat(events.getLast().get("type").textValue()).isEqualTo("response.incomplete");
    JsonNode response = events.getLast().get("response");
    assertThat(response.get("status").textValue()).isEqualTo("incomplete");
    assertThat(response.get("incomplete_details").get("reason").textValue())
        .isEqualTo("max_output_tokens");
    assertThat(response.get("completed_at").isNull()).isTrue();
    assertThat(response.get("output").get(0).get("status").textValue()).isEqualTo("incomplete");
  }

  @Test
  void a_failure_is_an_error_event_and_then_the_failed_response() {
    ResponseStream stream = stream(false);
    List<ObjectNode> events = new ArrayList<>(stream.started(AnswerParser.plain()));
    events.addAll(stream.tokens(tokens("Hel")));
    events.addAll(stream.failed(LOST));

    assertThat(types(events)).endsWith("error", "response.failed");
    assertThat(events.getLast().get("sequence_number").intValue()).isEqualTo(events.size() - 1);
    JsonNode response = events.getLast().get("response");
    assertThat(response.get("error").get("code").textValue()).isEqualTo("device_lost");
    assertThat(text(response)).isEqualTo("Hel");
  }

  @Test
  void a_character_split_over_tokens_comes_whole_with_its_last_one() {
    byte[] llama = "🦙".getBytes(StandardCharsets.UTF_8);
    List<TurnToken> tokens = new ArrayList<>(tokens("a"));
    for (byte part : llama) {
      tokens.add(new TurnToken(7, new byte[] {part}, -1, List.of()));
    }

    List<ObjectNode> events = all(stream(true), tokens, FinishReason.END);

    List<ObjectNode> deltas = of(events, "response.output_text.delta");
    assertThat(deltas)
        .extracting(delta -> delta.get("delta").textValue())
        .containsExactly("a", "🦙");
    assertThat(deltas.get(1).get("logprobs")).hasSize(4);
    assertThat(deltas.get(1).at("/logprobs/0/token").textValue())
        .as("different bytes look different (B14)")
        .isEqualTo("bytes:\\xf0");
    assertThat(of(events, "response.output_text.done").getFirst().get("logprobs")).hasSize(5);
  }

  @Test
  void a_character_that_never_becomes_whole_is_replaced_at_the_end() {
    List<TurnToken> tokens =
        List.of(new TurnToken(7, new byte[] {(byte) 0xF0, (byte) 0x9F}, 0, List.of()));

    List<ObjectNode> events = all(stream(false), tokens, FinishReason.LENGTH);

    assertThat(of(events, "response.output_text.delta"))
        .extracting(delta -> delta.get("delta").textValue())
        .containsExactly("\uFFFD");
  }

  @Test
  void an_impossible_token_has_a_log_probability_that_json_can_say() {
    TurnToken token =
        new TurnToken(
            1,
            new byte[] {'a'},
            0,
            List.of(new TurnToken.Alternative(2, new byte[] {'b'}, Float.NEGATIVE_INFINITY)));

    List<ObjectNode> events = all(stream(true), List.of(token), FinishReason.END);

    JsonNode logprob = of(events, "response.output_text.delta").getFirst().get("logprobs").get(0);
    assertThat(logprob.get("top_logprobs").get(0).get("logprob").floatValue()).isEqualTo(-9999);
  }

  /** Random bytes, cut into random tokens, in every grouping of up to nine tokens. */
  @Test
  void the_events_do_not_depend_on_how_tokens_are_grouped() {
    long seed = Long.getLong("seed", 20);
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 20; round++) {
      List<TurnToken> tokens = randomTokens(random);
      String alone = encoded(all(stream(true), tokens, FinishReason.END));
      for (int cuts = 0; cuts < 1 << (tokens.size() - 1); cuts++) {
        ResponseStream stream = stream(true);
        List<ObjectNode> events = new ArrayList<>(stream.started(AnswerParser.plain()));
        int from = 0;
        for (int i = 1; i <= tokens.size(); i++) {
          if (i == tokens.size() || (cuts >> (i - 1) & 1) == 1) {
            events.addAll(stream.tokens(tokens.subList(from, i)));
            from = i;
          }
        }
        events.addAll(stream.ended(FinishReason.END, USAGE, 1_700_000_001));
        events.add(stream.last());
        assertThat(encoded(events))
            .as("repeat with: mvn test -Dtest=ResponseStreamTest -Dseed=%d", seed)
            .isEqualTo(alone);
      }
    }
  }

  @Test
  void deltas_add_up_to_the_text_whatever_the_bytes() {
    long seed = Long.getLong("seed", 21);
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 500; round++) {
      List<TurnToken> tokens = randomTokens(random);
      List<ObjectNode> events = all(stream(false), tokens, FinishReason.END);
      String joined =
          of(events, "response.output_text.delta").stream()
              .map(delta -> delta.get("delta").textValue())
              .collect(Collectors.joining());
      assertThat(joined)
          .as("repeat with: mvn test -Dtest=ResponseStreamTest -Dseed=%d", seed)
          .isEqualTo(new String(bytes(tokens), StandardCharsets.UTF_8))
          .isEqualTo(text(events.getLast().get("response")));
    }
  }

  private static List<TurnToken> randomTokens(SplittableRandom random) {
    String alphabet = "aé€🦙\u2028 ";
    List<TurnToken> tokens = new ArrayList<>();
    for (int i = 1 + random.nextInt(9); i > 0; i--) {
      byte[] all = alphabet.getBytes(StandardCharsets.UTF_8);
      int from = random.nextInt(all.length);
      int to = from + random.nextInt(Math.min(4, all.length - from + 1));
      byte[] bytes = java.util.Arrays.copyOfRange(all, from, to);
      tokens.add(new TurnToken(i, bytes, -random.nextInt(9), List.of()));
    }
    return tokens;
  }

  private static byte[] bytes(List<TurnToken> tokens) {
    java.io.ByteArrayOutputStream joined = new java.io.ByteArrayOutputStream();
    tokens.forEach(token -> joined.writeBytes(token.bytes()));
    return joined.toByteArray();
  }

  private static ResponseStream stream(boolean logprobs) {
    return new ResponseStream(new ResponseResource(RESPONSE, 1_700_000_000, echo()), logprobs);
  }

  private static List<ObjectNode> all(
      ResponseStream stream, List<TurnToken> tokens, FinishReason reason) {
    List<ObjectNode> events = new ArrayList<>(stream.started(AnswerParser.plain()));
    tokens.forEach(token -> events.addAll(stream.tokens(List.of(token))));
    events.addAll(stream.ended(reason, USAGE, 1_700_000_001));
    events.add(stream.last());
    return events;
  }

  private static List<TurnToken> tokens(String... texts) {
    List<TurnToken> tokens = new ArrayList<>();
    for (String text : texts) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      tokens.add(
          new TurnToken(1, bytes, -0.5f, List.of(new TurnToken.Alternative(2, bytes, -0.5f))));
    }
    return tokens;
  }

  private static List<String> types(List<ObjectNode> events) {
    return events.stream().map(event -> event.get("type").textValue()).toList();
  }

  private static List<ObjectNode> of(List<ObjectNode> events, String type) {
    return events.stream().filter(event -> type.equals(event.get("type").textValue())).toList();
  }

  private static String encoded(List<ObjectNode> events) {
    return events.stream().map(Json::text).collect(Collectors.joining("\n"));
  }

  private static String text(JsonNode response) {
    return response.get("output").get(0).get("content").get(0).get("text").textValue();
  }

  private static ObjectNode echo() {
    ObjectNode body = Json.object().put("model", "glass").put("input", "hello");
    return ResponsesReaderTest.reader().read(body, ResponsesReader.Transport.HTTP).echo();
  }
}
