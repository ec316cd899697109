package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.protocol.FinishReason;
import firstlight.protocol.StoredTurn;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams that are read again once they have ended. */
class ResponseReplayTest {
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
    server.turns.answer("Hello", " world");
    server.turns.parseWith(MarkedParser::new);
    server.turns.endWith(FinishReason.END);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "Hello; END",
        "''; END",
        "[hm, é🦙]Let me see.<w|{\"at\":\"x\"}><t|>b; END",
        "[hm; LENGTH",
        "a<w|{; LENGTH",
        "1.5\u2028\u0000x; LENGTH",
      })
  void the_events_are_the_same_byte_for_byte(String answer, FinishReason reason) {
    server.turns.answer(answer.codePoints().mapToObj(Character::toString).toArray(String[]::new));
    server.turns.endWith(reason);
    for (String more : List.of("", ",'include':['message.output_text.logprobs']")) {
      HttpResponse<String> original =
          server.post("{'model':'m','input':'hi','stream':true,'top_p':0.3%s}".formatted(more));

      HttpResponse<String> again = server.get(path(original) + "?stream=true");

      assertThat(again.headers().firstValue("content-type"))
          .isEqualTo(original.headers().firstValue("content-type"));
      assertThat(again.body()).isEqualTo(original.body());
    }
  }

  @Test
  void only_the_events_after_a_number_are_sent() {
    HttpResponse<String> original = server.post("{'model':'m','input':'hi','stream':true}");
    List<ObjectNode> events = server.events(original);
    for (int after = 0; after < events.size() - 1; after++) {
      HttpResponse<String> rest =
          server.get(path(original) + "?stream=true&starting_after=" + after);

      assertThat(server.events(rest)).isEqualTo(events.subList(after + 1, events.size()));
    }
    assertThat(server.get(path(original) + "?stream=true&starting_after=99").body())
        .isEqualTo("data: [DONE]\n\n");
  }

  @Test
  void an_answer_longer_than_a_slow_reader_takes_at_once_comes_whole() {
    server.turns.parseWith(AnswerParser::plain);
    server.turns.answer("x".repeat(700_000), "y".repeat(700_000));
    HttpResponse<String> original = server.post("{'model':'m','input':'hi','stream':true}");

    assertThat(server.get(path(original) + "?stream=true").body()).isEqualTo(original.body());
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "", "1.5", "99999999999999999999"})
  void a_number_that_is_none_is_refused(String after) {
    HttpResponse<String> original = server.post("{'model':'m','input':'hi','stream':true}");

    HttpResponse<String> answer =
        server.get(path(original) + "?stream=true&starting_after=" + after);

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(server.object(answer).at("/error/param").textValue()).isEqualTo("starting_after");
  }

  @Test
  void a_response_whose_cuts_were_not_kept_is_refused_and_not_guessed() {
    HttpResponse<String> original = server.post("{'model':'m','input':'hi','stream':true}");
    String id = server.events(original).getFirst().at("/response/id").textValue();
    StoredTurn turn = server.session.turn(id);
    server.session.put(
        new StoredTurn(
            turn.response(),
            turn.tenant(),
            turn.parent(),
            turn.model(),
            turn.created(),
            turn.status(),
            turn.input(),
            turn.output().replace("\"cuts\"", "\"other\""),
            turn.resource(),
            turn.usage()));

    HttpResponse<String> answer = server.get(path(original) + "?stream=true");

    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(server.object(answer).at("/error/code").textValue()).isEqualTo("stream_not_kept");
  }

  @Test
  void another_tenants_stream_does_not_exist() {
    HttpResponse<String> original = server.post("{'model':'m','input':'hi','stream':true}");

    assertThat(server.get(path(original) + "?stream=true", "tenant", "b").statusCode())
        .isEqualTo(404);
  }

  @Test
  void where_the_text_was_cut_is_seen_nowhere_else() {
    ObjectNode first = server.create("{'model':'m','input':'hi'}");
    ObjectNode second =
        server.create(
            "{'model':'m','input':[{'type':'item_reference','id':%s}]}"
                .formatted(first.at("/output/0/id")));

    String id = second.get("id").textValue();
    assertThat(server.session.turn(first.get("id").textValue()).output()).contains("\"cuts\"");
    assertThat(server.get("/v1/responses/" + id + "/input_items").body())
        .contains("Hello world")
        .doesNotContain("cuts");
  }

  private static String path(HttpResponse<String> stream) {
    return "/v1/responses/" + server.events(stream).getFirst().at("/response/id").textValue();
  }
}
