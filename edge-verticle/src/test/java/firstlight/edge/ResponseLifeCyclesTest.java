package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.edge.CheckedResponses.Transport;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Conversations, answers of every make and refusals over every transport: whatever is sent is
 * valid, and each Item lives from its beginning to its end.
 */
class ResponseLifeCyclesTest {
  private static final String TOOLS =
      "'tools':[{'type':'function','name':'w','parameters':{'type':'object'}},"
          + "{'type':'function','name':'t','description':'d','strict':false,'parameters':null}]";
  private static final String CALL = "'input':'hi'," + TOOLS;
  private static final String LOGPROBS =
      ",'top_logprobs':1,'include':['message.output_text.logprobs']";

  private static CheckedResponses responses;

  /**
   * @param answer what the model writes
   * @param items the types of its Items, by their first letters: m, r, f
   */
  private record Life(String fields, String answer, FinishReason reason, String items) {
    @Override
    public String toString() {
      return answer.substring(0, Math.min(20, answer.length())) + " " + reason + " " + fields;
    }
  }

  /**
   * A Response, and another one that builds on it.
   *
   * @param next fields, in which ID is the id of the first, ITEM that of its first Item, and CALL
   *     that of its call
   */
  private record Chain(String first, String answer, String next) {}

  @BeforeAll
  static void start() {
    responses = new CheckedResponses();
  }

  @AfterAll
  static void stop() {
    if (responses != null) {
      responses.close();
    }
  }

  @AfterEach
  void calm() {
    responses.server.turns.refuseWith(null);
    responses.server.turns.contextMax(1_000);
  }

  static Stream<Arguments> lives() {
    FinishReason end = FinishReason.END;
    FinishReason length = FinishReason.LENGTH;
    return CheckedResponses.everyWay(
        List.of(
            new Life("'input':'hi'", "\u2028\u0000é🦙日本語 \"x\"\\", end, "m"),
            new Life("'input':'hi'", "long ".repeat(200), end, "m"),
            new Life("'input':'hi','max_output_tokens':1", "H", length, "m"),
            new Life("'input':'hi'", "", length, "m"),
            new Life("'input':'hi'" + LOGPROBS, "Hé🦙", end, "m"),
            new Life("'input':'hi'" + LOGPROBS, "Hé", length, "m"),
            new Life(CALL + LOGPROBS, "[hm]Hé<w|{}>x", end, "rmfm"),
            new Life(CALL, "[hm]a[so]b", end, "rmrm"),
            new Life(CALL, "<w|{}>[hm]b", end, "frm"),
            new Life(CALL, "<w|{}><w|{}><t|{\"a\":1}>", end, "fff"),
            new Life(CALL, "a<w|{}>b<t|{}>c", end, "mfmfm"),
            new Life(CALL, "[hm]<w|{\"at\":", length, "rf"),
            new Life(CALL, "<w|{}><t|{", length, "ff"),
            new Life(CALL, "[only thoughts]", end, "r"),
            new Life(CALL, "never a <call", length, "m"),
            new Life("'input':'hi','store':false," + TOOLS, "<w|{}>", end, "f")));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("lives")
  void every_item_lives_from_its_beginning_to_its_end(Life life, Transport transport)
      throws IOException {
    responses.writing(life.answer(), life.reason());

    JsonNode response = responses.ask(life.fields(), transport);

    JsonNode output = response.get("output");
    StringBuilder items = new StringBuilder();
    output.forEach(item -> items.append(item.get("type").textValue().charAt(0)));
    assertThat(items).hasToString(life.items());
    boolean whole = life.reason() == FinishReason.END;
    assertThat(response.get("status").textValue()).isEqualTo(whole ? "completed" : "incomplete");
    assertThat(output.get(output.size() - 1).get("status")).isEqualTo(response.get("status"));
    assertThat(CheckedResponses.written(output)).isEqualTo(life.answer());
    if (life.fields().contains(LOGPROBS)) {
      for (JsonNode item : output) {
        int shown = item.at("/content/0/logprobs").size();
        String text = item.at("/content/0/text").asText();
        boolean message = item.get("type").textValue().equals("message");
        assertThat(shown).isEqualTo(message ? text.codePointCount(0, text.length()) : 0);
      }
    }
  }

  static Stream<Arguments> chains() {
    String hi = "'input':'hi'";
    String result = "'input':[{'type':'function_call_output','call_id':'CALL','output':'ok'}]";
    return CheckedResponses.everyWay(
        List.of(
            new Chain(hi, "Hello", "'previous_response_id':'ID','input':'and?'"),
            new Chain(hi, "Hello", "'previous_response_id':'ID','input':'a','instructions':'b'"),
            new Chain(hi, "Hello", "'previous_response_id':'ID','input':'and?','store':false"),
            new Chain(
                hi,
                "Hello",
                "'input':[{'type':'item_reference','id':'ITEM'},{'role':'user','content':'x'}]"),
            new Chain(CALL, "<w|{}>", "'previous_response_id':'ID'," + result),
            new Chain(CALL, "[hm]<w|{}>", "'previous_response_id':'ID'," + result + "," + TOOLS),
            new Chain(
                CALL,
                "[hm]a",
                "'previous_response_id':'ID','input':[{'role':'developer','content':'x'}],"
                    + "'truncation':'auto'")));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("chains")
  void a_response_goes_on_from_one_before(Chain chain, Transport transport) throws IOException {
    responses.writing(chain.answer(), FinishReason.END);
    JsonNode first = responses.ask(chain.first(), Transport.STREAMED);
    List<String> calls = new ArrayList<>(first.findValuesAsText("call_id"));
    String next =
        chain
            .next()
            .replace("ID", first.get("id").textValue())
            .replace("ITEM", first.at("/output/0/id").asText())
            .replace("CALL", calls.isEmpty() ? "" : calls.getFirst());

    JsonNode second = responses.ask(next, transport);

    assertThat(CheckedResponses.written(second.get("output"))).isEqualTo(chain.answer());
    if (chain.next().contains("previous_response_id")) {
      assertThat(second.get("previous_response_id")).isEqualTo(first.get("id"));
    }
  }

  static Stream<Arguments> refusals() {
    return CheckedResponses.everyWay(
        List.of(
            "400 input",
            "400 input;'input':[]",
            "400 input[0].type;'input':[{'type':'computer_call'}]",
            "400 input[0].content[0].type;'input':[{'role':'user','content':"
                + "[{'type':'input_image','image_url':'http://127.0.0.1:9/'}]}]",
            "400 input[0].call_id;'input':[{'type':'function_call_output','call_id':'c',"
                + "'output':'x'}]",
            "400 temperature;'input':'x','temperature':9",
            "400 tools[0].type;'input':'x','tools':[{'type':'web_search'}]",
            "400 tool_choice;'input':'x','tool_choice':'required'",
            "404 previous_response_id;'input':'x','previous_response_id':'resp_none'",
            "400 metadata;'input':'x','metadata':{'a':1}"));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("refusals")
  void a_refusal_is_valid_and_names_its_field(String refusal, Transport transport)
      throws IOException {
    String[] parts = refusal.split(";", 2);
    String fields = parts.length > 1 ? parts[1] : "'store':true";
    int status = Integer.parseInt(parts[0].substring(0, 3));
    JsonNode error = responses.refused(fields, transport, status);

    assertThat(error.get("param").asText()).startsWith(parts[0].substring(4));
    assertThat(error.get("message").asText()).isNotEmpty();
  }

  static Stream<Arguments> shortages() {
    return CheckedResponses.everyWay(
        List.of(FailureKind.OVERLOADED, FailureKind.TENANT_LIMIT, FailureKind.UNAVAILABLE));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("shortages")
  void a_shortage_is_valid_and_has_a_status(FailureKind kind, Transport transport)
      throws IOException {
    responses.server.turns.refuseWith(
        new MeshException(kind, "full", "Full. Try again.", null, 1_500));

    JsonNode error =
        responses.refused("'input':'x'", transport, kind == FailureKind.TENANT_LIMIT ? 429 : 503);

    assertThat(error.get("code").asText()).isEqualTo("full");
  }
}
