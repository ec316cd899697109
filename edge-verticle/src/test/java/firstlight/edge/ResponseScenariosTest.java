package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whole requests over every transport: whatever is sent is valid, and says the same. */
class ResponseScenariosTest {
  private static final String TOOLS =
      "'tools':[{'type':'function','name':'w','description':'weather','strict':true,"
          + "'parameters':{'type':'object','properties':{'at':{'type':'string'}}}},"
          + "{'type':'function','name':'t'}]";
  private static final MeshException LOST =
      new MeshException(FailureKind.DEVICE_LOST, "device_lost", "The device is gone. Try again.");

  private static final String UNSTORED = "'store':false";

  private static CheckedResponses responses;
  private static ResponsesServer server;
  private static String conversation;

  private enum Transport {
    WHOLE,
    STREAMED,
    WEB_SOCKET,
    /** In the background, and read by another instance. */
    READ_ELSEWHERE,
    /** In the background, and resumed over a WebSocket of another instance. */
    RESUMED;

    private boolean background() {
      return this == READ_ELSEWHERE || this == RESUMED;
    }
  }

  /**
   * @param fields of the request
   * @param answer what the model writes, each character a token
   * @param items the types of the answer's Items
   */
  private record Scenario(
      String name, String fields, String answer, FinishReason reason, List<String> items) {
    @Override
    public String toString() {
      return name;
    }
  }

  @BeforeAll
  static void start() {
    responses = new CheckedResponses();
    server = responses.server;
    HttpResponse<String> made =
        server.postTo("/v1/conversations", "{'items':[{'role':'user','content':'u'}]}");
    conversation = server.object(made).get("id").textValue();
  }

  @AfterAll
  static void stop() {
    if (responses != null) {
      responses.close();
    }
  }

  static Stream<Arguments> scenarios() {
    return Stream.of(inputs(), forms(), answers())
        .flatMap(List::stream)
        .flatMap(
            scenario ->
                Stream.of(Transport.values())
                    .filter(way -> !(way.background() && scenario.fields().contains(UNSTORED)))
                    .map(way -> Arguments.of(scenario, way)));
  }

  private static List<Scenario> inputs() {
    return List.of(
        said("a string", "'input':'hi'"),
        said("instructions", "'input':'hi','instructions':'Be brief.'"),
        said(
            "every role and phase",
            "'input':[{'role':'system','content':'s'},{'role':'developer','content':'d'},"
                + "{'role':'user','content':[{'type':'input_text','text':'u'}]},"
                + "{'role':'assistant','phase':'commentary','content':'c'},"
                + "{'role':'assistant','phase':'final_answer','content':"
                + "[{'type':'output_text','text':'f','annotations':[]}]},"
                + "{'role':'user','content':'u'}]"),
        said(
            "calls with their results, in any order",
            "'input':[{'role':'user','content':'u'},"
                + "{'type':'function_call','call_id':'a','name':'w','arguments':'{}'},"
                + "{'type':'function_call','call_id':'b','name':'t','arguments':'{}'},"
                + "{'type':'function_call_output','call_id':'b','output':'2'},"
                + "{'type':'function_call_output','call_id':'a','output':"
                + "[{'type':'input_text','text':'1'}]}],"
                + TOOLS),
        said(
            "reasoning of before",
            "'input':[{'type':'reasoning','summary':[{'type':'summary_text','text':'s'}],"
                + "'content':[{'type':'reasoning_text','text':'t'}]},"
                + "{'role':'user','content':'u'}]"),
        said(
            "a window of a compaction",
            "'input':[{'type':'compaction','id':'cmp_1','encrypted_content':'%s'},"
                    .formatted(ResponseSummary.encode("They said hello."))
                + "{'role':'user','content':'u'}]"),
        said(
            "a reference to an Item beside it",
            "'input':[{'role':'user','id':'msg_a','content':'u'},"
                + "{'type':'item_reference','id':'msg_a'}]"),
        said(
            "all options",
            "'input':'hi','temperature':0.5,'top_p':0.5,'presence_penalty':1,'truncation':'auto',"
                + "'frequency_penalty':1,'max_tool_calls':1,'metadata':{'k':'v'},"
                + UNSTORED
                + ","
                + "'safety_identifier':'s','prompt_cache_key':'p','service_tier':'flex',"
                + "'reasoning':{'effort':'low'},'text':{'verbosity':'low'}"),
        said("a conversation", "'input':'hi','conversation':'CONVERSATION'"),
        said("nothing but a conversation", "'conversation':{'id':'CONVERSATION'}"),
        said(
            "log-probabilities",
            "'input':'hi','top_logprobs':2,'include':['message.output_text.logprobs']"));
  }

  private static List<Scenario> forms() {
    return List.of(
        said("tools that are not called", "'input':'hi'," + TOOLS),
        said("no tool", "'input':'hi','tool_choice':'none'," + TOOLS),
        new Scenario(
            "a tool that must be called",
            "'input':'hi','tool_choice':'required'," + TOOLS,
            "<t|{}>",
            FinishReason.END,
            List.of("function_call")),
        new Scenario(
            "one tool by name",
            "'input':'hi','tool_choice':{'type':'function','name':'w'}," + TOOLS,
            "<w|{\"at\":\"Kraków\"}>",
            FinishReason.END,
            List.of("function_call")),
        new Scenario(
            "allowed tools",
            "'input':'hi','parallel_tool_calls':false,'tool_choice':{'type':'allowed_tools',"
                + "'mode':'required','tools':[{'type':'function','name':'t'}]},"
                + TOOLS,
            "<t|{}>",
            FinishReason.END,
            List.of("function_call")),
        said("a JSON object", "'input':'hi','text':{'format':{'type':'json_object'}}"),
        said(
            "a JSON Schema",
            "'input':'hi','text':{'format':{'type':'json_schema','name':'n','description':'d',"
                + "'strict':true,'schema':{'type':'boolean'}}}"));
  }

  private static List<Scenario> answers() {
    String call = "'input':'hi'," + TOOLS;
    return List.of(
        new Scenario("no text", "'input':'hi'", "", FinishReason.END, List.of("message")),
        new Scenario(
            "text and calls",
            call,
            "Let me see.<w|{\"at\":\"x\"}><t|{}>",
            FinishReason.END,
            List.of("message", "function_call", "function_call")),
        new Scenario(
            "reasoning and text",
            call,
            "[hm]🦙",
            FinishReason.END,
            List.of("reasoning", "message")),
        new Scenario(
            "everything",
            call,
            "[hm]a<w|{}>b",
            FinishReason.END,
            List.of("reasoning", "message", "function_call", "message")),
        new Scenario("text cut off", call, "Let me", FinishReason.LENGTH, List.of("message")),
        new Scenario(
            "a call cut off",
            call,
            "a<w|{\"at\":",
            FinishReason.LENGTH,
            List.of("message", "function_call")),
        new Scenario(
            "reasoning cut off", call, "[so, is", FinishReason.LENGTH, List.of("reasoning")));
  }

  private static Scenario said(String name, String fields) {
    return new Scenario(name, fields, "Hello", FinishReason.END, List.of("message"));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("scenarios")
  void whatever_is_sent_is_valid_and_says_what_was_answered(Scenario scenario, Transport transport)
      throws IOException {
    responses.writing(scenario.answer(), scenario.reason());

    JsonNode response = ask(scenario.fields(), transport);

    JsonNode output = response.get("output");
    assertThat(output)
        .extracting(item -> item.get("type").textValue())
        .containsExactlyElementsOf(scenario.items());
    boolean whole = scenario.reason() == FinishReason.END;
    assertThat(response.get("status").textValue()).isEqualTo(whole ? "completed" : "incomplete");
    assertThat(output.get(output.size() - 1).get("status")).isEqualTo(response.get("status"));
    assertThat(CheckedResponses.written(output)).isEqualTo(scenario.answer());
    if (response.get("store").booleanValue()) {
      assertThat(server.object(server.get("/v1/responses/" + response.get("id").textValue())))
          .isEqualTo(response);
    }
  }

  @ParameterizedTest
  @MethodSource("failing")
  void a_failure_is_valid_whenever_it_comes(String answer, Transport transport) throws IOException {
    server.turns.answer(answer);
    server.turns.failWith(LOST);
    try {
      if (transport == Transport.WHOLE) {
        responses.refused("'input':'hi'", CheckedResponses.Transport.WHOLE, 503);
      } else {
        JsonNode response = ask("'input':'hi'", transport);
        assertThat(response.get("status").textValue()).isEqualTo("failed");
        assertThat(response.at("/output/0/status").textValue()).isEqualTo("incomplete");
      }
    } finally {
      server.turns.failWith(null);
    }
  }

  static Stream<Arguments> failing() {
    return Stream.of("Hel", "[hm", "<w|{")
        .flatMap(
            answer ->
                Stream.of(Transport.values())
                    .filter(way -> !way.background())
                    .map(way -> Arguments.of(answer, way)));
  }

  private static JsonNode ask(String fields, Transport transport) throws IOException {
    String all = fields.replace("CONVERSATION", conversation);
    String body = "{'model':'m'," + all;
    return switch (transport) {
      case WHOLE, STREAMED, WEB_SOCKET ->
          responses.ask(all, CheckedResponses.Transport.valueOf(transport.name()));
      case READ_ELSEWHERE ->
          responses.checked(
              server.events(
                  server
                      .getLater(
                          server.otherPort(),
                          "/v1/responses/%s?stream=true".formatted(queued(body)))
                      .join()));
      case RESUMED -> {
        try (WebSocketClient client =
            new WebSocketClient(server.otherPort(), server.json, 64 << 10)) {
          client.send("{'type':'response.resume','response_id':'%s'}".formatted(queued(body)));
          yield responses.checked(client.response());
        }
      }
    };
  }

  private static String queued(String body) {
    ObjectNode queued = server.create(body + ",'background':true}");
    responses.check(queued);
    return queued.get("id").textValue();
  }
}
