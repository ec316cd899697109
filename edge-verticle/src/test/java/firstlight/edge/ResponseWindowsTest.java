package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.ChatMessage;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How conversations are counted, summed up, cut and put together. */
class ResponseWindowsTest {
  private static final String CALL =
      "{'type':'function_call','call_id':'c','name':'w','arguments':'{}'}";

  private ResponsesServer server;

  @BeforeEach
  void start() {
    server = new ResponsesServer();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void the_tokens_of_an_input_are_counted_with_all_it_builds_on_and_nothing_runs() {
    ObjectNode first = server.create("{'model':'m','input':'a'}");
    HttpResponse<String> counted =
        server.postTo(
            "/v1/responses/input_tokens",
            "{'model':'m','input':'b','instructions':'i','previous_response_id':%s}"
                .formatted(first.get("id")));

    assertThat(server.object(counted))
        .isEqualTo(Json.object().put("object", "response.input_tokens").put("input_tokens", 4));
    assertThat(server.turns.started()).isEqualTo(1);
    assertThat(server.session.size()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'input':'x'}|400|model",
        "{'model':'m'}|400|input",
        "{'model':'m','input':5}|400|input",
        "{'model':'m','input':'x','previous_response_id':'resp_0'}|404|previous_response_id",
        "{'model':'m','input':[{'type':'function_call_output','call_id':'c','output':'x'}]}|400"
            + "|input[0].call_id",
      })
  void what_cannot_be_counted_or_summed_up_is_refused(String body, int status, String param) {
    for (String what : List.of("input_tokens", "compact")) {
      HttpResponse<String> refusal = server.postTo("/v1/responses/" + what, body);

      assertThat(refusal.statusCode()).isEqualTo(status);
      assertThat(server.object(refusal).at("/error/param").textValue()).isEqualTo(param);
    }
    assertThat(server.turns.started()).isZero();
  }

  @Test
  void a_compaction_is_what_the_model_sums_up_and_begins_a_new_chain() {
    ObjectNode first = server.create("{'model':'m','input':'a'}");
    server.turns.parseWith(MarkedParser::new);
    server.turns.answer("[hm]", "They ", "spoke.");
    HttpResponse<String> answer =
        server.postTo(
            "/v1/responses/compact",
            "{'model':'m','input':'b','previous_response_id':%s,'prompt_cache_key':'k'}"
                .formatted(first.get("id")));

    assertThat(answer.statusCode()).isEqualTo(200);
    ObjectNode window = server.object(answer);
    ResponseSchemas.load().check("CompactResource", window);
    assertThat(messages()).hasSize(4);
    assertThat(messages().getLast().content()).contains("Sum up");
    assertThat(server.turns.last().request().origin().stored()).isFalse();
    assertThat(window.at("/usage/output_tokens").intValue()).isEqualTo(3);
    assertThat(window.get("output")).hasSize(1);

    ArrayNode input = window.withArray("output").deepCopy();
    input.addObject().put("role", "user").put("content", "go on");
    ObjectNode next =
        server.create("{'model':'m','instructions':'I.','input':%s}".formatted(input));

    assertThat(messages())
        .containsExactly(
            new ChatMessage("system", "I.\n\nWhat was said before, in short:\nThey spoke."),
            new ChatMessage("user", "go on"));
    ResponseSchemas.load().check("ResponseResource", next);
    assertThat(
            server
                .post(
                    "{'model':'m','input':'x','previous_response_id':%s}"
                        .formatted(window.get("id")))
                .statusCode())
        .isEqualTo(404);
  }

  @Test
  void fields_without_an_effect_are_named() {
    for (String what : List.of("input_tokens", "compact")) {
      HttpResponse<String> answer =
          server.postTo("/v1/responses/" + what, "{'model':'m','input':'x','tempo':1}");

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().firstValue(IgnoredFields.HEADER)).as(what).hasValue("tempo");
    }
  }

  @Test
  void a_call_that_nobody_has_answered_stays_in_the_window() {
    String answered = CALL.replace("'c'", "'d'");
    ObjectNode window =
        server.object(
            server.postTo(
                "/v1/responses/compact",
                "{'model':'m','input':[{'role':'user','content':'u'},%s,%s,"
                        .formatted(answered, CALL)
                    + "{'type':'function_call_output','call_id':'d','output':'x'}]}"));

    assertThat(window.get("output"))
        .extracting(item -> item.path("call_id").asText())
        .containsExactly("", "c");
    ArrayNode input = window.withArray("output").deepCopy();
    input.addObject().put("type", "function_call_output").put("call_id", "c").put("output", "sun");
    server.create("{'model':'m','input':%s}".formatted(input));
    assertThat(messages().getLast().content()).isEqualTo("sun");
  }

  @Test
  void a_compaction_whose_turn_fails_is_that_failure() {
    server.turns.refuseWith(
        new MeshException(FailureKind.OVERLOADED, "overloaded", "Full.", null, 2_500));
    HttpResponse<String> answer =
        server.postTo("/v1/responses/compact", "{'model':'m','input':'x'}");

    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.headers().firstValue("retry-after-ms")).hasValue("2500");
  }

  /** Of a context of eight messages, two are left for the answer. */
  @Test
  void the_oldest_turns_are_dropped_until_the_rest_fits_and_the_system_stays() {
    server.turns.contextMax(8);
    String chain = null;
    for (String input : List.of("a", "b", "c", "d")) {
      chain =
          server
              .create(
                  "{'model':'m','instructions':'S','truncation':'auto','input':'%s',"
                          .formatted(input)
                      + "'previous_response_id':%s}".formatted(chain))
              .get("id")
              .toString();
    }

    assertThat(messages())
        .extracting(ChatMessage::content)
        .containsExactly("S", "b", "Hello world", "c", "Hello world", "d")
        .hasSize(8 - 2);
    assertThat(server.session.size()).isEqualTo(4);
  }

  @Test
  void what_fits_is_not_touched_and_nothing_is_dropped_unless_asked_for() {
    server.turns.contextMax(4);
    String input =
        "'input':[{'role':'user','content':'a'},{'role':'assistant','content':'b'},"
            + "{'role':'user','content':'c'}%s]";
    server.create("{'model':'m','truncation':'auto'," + input.formatted("") + "}");
    assertThat(messages()).hasSize(3);
    String more = input.formatted(",{'role':'assistant','content':'d'}");
    server.create("{'model':'m'," + more + "}");
    assertThat(messages()).hasSize(4);
  }

  @Test
  void the_last_turn_stays_however_long_it_is() {
    server.turns.contextMax(1);
    server.create(
        "{'model':'m','truncation':'auto','input':[{'role':'user','content':'a'},"
            + "{'role':'assistant','content':'b'},{'role':'user','content':'c'}]}");
    assertThat(messages()).containsExactly(new ChatMessage("user", "c"));
  }

  @Test
  void an_item_of_another_response_can_be_referred_to() {
    ObjectNode first = server.create("{'model':'m','input':'a'}");
    ObjectNode second =
        server.create(
            "{'model':'m','input':[{'type':'item_reference','id':%s},"
                    .formatted(first.at("/output/0/id"))
                + "{'role':'user','content':'b'}]}");

    assertThat(messages())
        .containsExactly(new ChatMessage("assistant", "Hello world"), new ChatMessage("user", "b"));
    JsonNode items =
        server
            .object(
                server.get(
                    "/v1/responses/%s/input_items?order=asc"
                        .formatted(second.get("id").textValue())))
            .get("data");
    assertThat(items.at("/0/content/0/text").textValue()).isEqualTo("Hello world");
  }

  @Test
  void an_item_that_the_history_has_is_not_repeated() {
    ObjectNode first = server.create("{'model':'m','input':'a'}");
    server.create(
        "{'model':'m','previous_response_id':%s,'input':[{'type':'item_reference','id':%s},"
                .formatted(first.get("id"), first.at("/output/0/id"))
            + "{'role':'user','content':'b'}]}");

    assertThat(messages()).hasSize(3);
  }

  @Test
  void a_call_that_is_referred_to_can_be_answered() {
    server.turns.parseWith(MarkedParser::new);
    server.turns.answer("<w|{}>");
    ObjectNode first = server.create("{'model':'m','input':'a'}");
    server.create(
        "{'model':'m','input':[{'type':'item_reference','id':%s},"
                .formatted(first.at("/output/0/id"))
            + "{'type':'function_call_output','call_id':%s,'output':'sun'}]}"
                .formatted(first.at("/output/0/call_id")));

    assertThat(messages()).extracting(ChatMessage::role).containsExactly("assistant", "tool");
  }

  @ParameterizedTest
  @CsvSource({"msg_nothere_o0", "x", "msg_", "a__b", "msg_\u2028_o0"})
  void a_reference_to_nothing_is_refused_by_name(String id) {
    HttpResponse<String> answer =
        server.post("{'model':'m','input':[{'type':'item_reference','id':'%s'}]}".formatted(id));

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(server.object(answer).at("/error/param").textValue()).isEqualTo("input[0].id");
  }

  @Test
  void items_of_another_tenant_do_not_exist() {
    ObjectNode first = server.create("{'model':'m','input':'a'}");

    HttpResponse<String> answer =
        server.post(
            "{'model':'m','input':[{'type':'item_reference','id':%s}]}"
                .formatted(first.at("/output/0/id")),
            "tenant",
            "b");

    assertThat(answer.statusCode()).isEqualTo(400);
  }

  @Test
  void references_into_very_many_responses_are_refused() {
    ArrayNode input = Json.array();
    for (int i = 0; i < 33; i++) {
      input.addObject().put("type", "item_reference").put("id", "msg_%d_o0".formatted(i));
    }
    HttpResponse<String> answer = server.post("{'model':'m','input':%s}".formatted(input));

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("more than 32");
  }

  private List<ChatMessage> messages() {
    return server.turns.last().messages();
  }
}
