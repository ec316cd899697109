package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.edge.ResponsesReader.Transport;
import firstlight.model.ChatMessage;
import firstlight.protocol.FailureKind;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshException;
import firstlight.protocol.Settings;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResponsesReaderTest {
  private static final EdgeConfig CONFIG =
      EdgeConfig.read(
          Settings.parse("edge: {open: true, limits: {messagesMax: 8}}", _ -> null)
              .section("edge"));
  static final Json JSON = new Json(CONFIG.limits());

  private static final List<String> FIELDS =
      words(
          "model input input input input instructions previous_response_id store stream background",
          "temperature top_p max_output_tokens max_tool_calls metadata truncation tools",
          "presence_penalty frequency_penalty top_logprobs include safety_identifier text",
          "prompt_cache_key service_tier parallel_tool_calls reasoning conversation prompt",
          "generate tool_choice stream_options");
  private static final List<String> NESTED =
      words(
          "type type type role role content content text id call_id name arguments output summary",
          "status phase refusal format verbosity effort encrypted_content schema strict tools",
          "mode parameters description");
  private static final List<String> SCALARS =
      words(
          "null true false 0 1 -1 0.5 1e300 99999999999999999999 \"\" \"x\" \"resp_1\" \"auto\"",
          "\"message\" \"user\" \"assistant\" \"system\" \"input_text\" \"output_text\"",
          "\"function_call\" \"function_call_output\" \"reasoning\" \"item_reference\" \"text\"",
          "\"refusal\" \"final_answer\" \"{\" \"low\" \"disabled\" \"default\" \"none\""
              + " \"required\"",
          "\"function\" \"allowed_tools\" \"json_schema\" \"json_object\" \"compaction\"");

  private static List<String> words(String... lines) {
    return Stream.of(lines).flatMap(line -> Stream.of(line.split(" "))).toList();
  }

  static ResponsesReader reader() {
    return new ResponsesReader(CONFIG.limits(), JSON, new IdSource(new SplittableRandom(1)));
  }

  @Test
  void a_string_is_a_message_of_the_user() {
    ResponseRequest request = read("'input': 'hello'");

    assertThat(messages(request)).containsExactly(new ChatMessage("user", "hello"));
    assertThat(request.model()).isEqualTo("m");
    assertThat(request.store()).isTrue();
    assertThat(request.stream()).isFalse();
    assertThat(request.outputMax()).isEmpty();
    assertThat(request.sampling().topLogprobs()).isEqualTo(-1);
    JsonNode item = request.input().get(0);
    assertThat(item.get("id").textValue())
        .isEqualTo("msg_" + request.id().value().substring("resp_".length()) + "_0");
    assertThat(item.get("content").get(0).get("type").textValue()).isEqualTo("input_text");
  }

  @Test
  void instructions_come_first_and_join_system_messages_at_the_beginning() {
    ResponseRequest request =
        read(
            "'instructions': 'Be brief.', 'input': [{'role':'developer','content':'No jokes.'},"
                + "{'role':'user','content':'hi'},{'role':'system','content':'Now!'}]");

    assertThat(messages(request))
        .containsExactly(
            new ChatMessage("system", "Be brief.\n\nNo jokes."),
            new ChatMessage("user", "hi"),
            new ChatMessage("system", "Now!"));
  }

  @Test
  void text_parts_of_a_message_are_joined_and_its_type_may_be_left_out() {
    ResponseRequest request =
        read(
            "'input': [{'role':'user','content':[{'type':'input_text','text':'a'},"
                + "{'type':'input_text','text':'b'}]},"
                + "{'type':'message','role':'assistant','phase':null,'status':'incomplete',"
                + "'id':'msg_x','content':[{'type':'output_text','text':'c'}]},"
                + "{'role':'assistant','phase':'final_answer','content':"
                + "[{'type':'refusal','refusal':'no'}]}]");

    assertThat(messages(request))
        .containsExactly(
            new ChatMessage("user", "ab"),
            new ChatMessage("assistant", "c"),
            new ChatMessage("assistant", "no"));
    assertThat(request.input().get(1).get("id").textValue()).isEqualTo("msg_x");
    assertThat(request.input().get(1).get("status").textValue()).isEqualTo("incomplete");
    assertThat(request.input().get(1).has("phase")).isFalse();
    assertThat(request.input().get(2).get("phase").textValue()).isEqualTo("final_answer");
  }

  @Test
  void calls_and_their_results_become_the_messages_that_templates_know() {
    ResponseRequest request =
        read(
            "'input': [{'role':'user','content':'weather?'},{'type':'reasoning','summary':[]},"
                + "{'type':'function_call','call_id':'c1','name':'w','arguments':'{\\\"at\\\":1}'},"
                + "{'type':'function_call','call_id':'c2','name':'w','arguments':'[[['},"
                + "{'type':'function_call_output','call_id':'c1','output':'sun'},"
                + "{'type':'function_call_output','call_id':'c2',"
                + "'output':[{'type':'input_text','text':'rain'}]}]");

    List<ChatMessage> messages = messages(request);

    assertThat(messages).hasSize(4);
    assertThat(messages.get(1).role()).isEqualTo("assistant");
    assertThat(messages.get(1).toolCalls())
        .extracting(call -> call.get("function"))
        .containsExactly(
            Map.of("name", "w", "arguments", Map.of("at", 1)),
            Map.of("name", "w", "arguments", "[[["));
    assertThat(messages.get(2)).isEqualTo(new ChatMessage("tool", "sun", List.of(), "c1", null));
    assertThat(messages.get(3).content()).isEqualTo("rain");
  }

  @Test
  void a_result_of_a_call_that_nobody_made_is_refused() {
    ResponseRequest request =
        read("'input': [{'type':'function_call_output','call_id':'c9','output':'x'}]");

    MeshException refusal = catchThrowableOfType(MeshException.class, () -> messages(request));

    assertThat(refusal.param()).isEqualTo("input[0].call_id");
  }

  @Test
  void every_item_is_valid_by_the_specification() {
    ResponseSchemas schemas = ResponseSchemas.load();
    ResponseRequest request =
        read(
            "'input': [{'role':'user','content':'a'},{'role':'assistant','content':'b'},"
                + "{'role':'developer','content':'c'},"
                + "{'type':'reasoning','summary':[{'type':'summary_text','text':'s'}],"
                + "'content':[{'type':'reasoning_text','text':'t'}],'encrypted_content':'e'},"
                + "{'type':'function_call','call_id':'c','name':'n','arguments':'{}'},"
                + "{'type':'function_call_output','call_id':'c','output':'o'}]");

    assertThat(request.input()).hasSize(6);
    request.input().forEach(item -> schemas.check("ItemField", (ObjectNode) item));
  }

  @Test
  void options_are_used_and_repeated() {
    ResponseRequest request =
        read(
            "'input':'x','temperature':0.5,'top_p':0.25,'presence_penalty':1,'stream':true,"
                + "'frequency_penalty':-1,'max_output_tokens':32,'store':false,'truncation':'auto',"
                + "'top_logprobs':3,'include':['message.output_text.logprobs'],'max_tool_calls':2,"
                + "'metadata':{'k':'v'},'safety_identifier':'s','prompt_cache_key':'p',"
                + "'service_tier':'flex','parallel_tool_calls':false,'tool_choice':'none',"
                + "'tools':[],'text':{'format':{'type':'text'},'verbosity':'low'},"
                + "'reasoning':{'effort':'low'},'previous_response_id':'resp_1','unknown':{'a':1}");

    assertThat(request.sampling().temperature()).isEqualTo(0.5f);
    assertThat(request.sampling().topP()).isEqualTo(0.25f);
    assertThat(request.sampling().presencePenalty()).isEqualTo(1);
    assertThat(request.sampling().frequencyPenalty()).isEqualTo(-1);
    assertThat(request.sampling().topLogprobs()).isEqualTo(3);
    assertThat(request.logprobs()).isTrue();
    assertThat(request.outputMax()).hasValue(32);
    assertThat(request.store()).isFalse();
    assertThat(request.stream()).isTrue();
    assertThat(request.previous()).hasToString("resp_1");
    assertThat(request.ignored()).containsExactly("unknown");
    assertThat(request.echo())
        .isEqualTo(
            JSON.value(
                """
                {"model":"m","previous_response_id":"resp_1","instructions":null,"tools":[],
                "tool_choice":"none","truncation":"auto","parallel_tool_calls":false,
                "text":{"format":{"type":"text"},"verbosity":"low"},"top_p":0.25,
                "presence_penalty":1.0,"frequency_penalty":-1.0,"top_logprobs":3,
                "temperature":0.5,"reasoning":{"effort":"low","summary":null},
                "max_output_tokens":32,"max_tool_calls":2,"store":false,
                "background":false,"service_tier":"flex","metadata":{"k":"v"},
                "safety_identifier":"s",
                "prompt_cache_key":"p"}
                """));
  }

  @Test
  void the_smallest_top_p_is_still_one_that_can_be_used() {
    assertThat(read("'input':'x','top_p':1e-300").sampling().topP()).isPositive();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'input':5|input",
        "'input':['x']|input[0]",
        "'input':[]|input",
        "'temperature':1|input",
        "'input':'x','model':null|model",
        "'input':'x','stream':'true'|stream",
        "'input':'x','store':1|store",
        "'input':'x','background':1|background",
        "'input':'x','background':true,'store':false|background",
        "'input':'x','stream_options':5|stream_options",
        "'input':'x','conversation':5|conversation",
        "'input':'x','conversation':{}|conversation.id",
        "'input':'x','conversation':{'id':5}|conversation.id",
        "'input':'x','conversation':'conv_1','store':false|conversation",
        "'input':'x','conversation':'conv_1','previous_response_id':'resp_1'|conversation",
        "'input':'x','prompt':{'id':'p'}|prompt",
        "'input':'x','temperature':'hot'|temperature",
        "'input':'x','temperature':2.1|temperature",
        "'input':'x','top_p':0|top_p",
        "'input':'x','top_p':1.1|top_p",
        "'input':'x','presence_penalty':3|presence_penalty",
        "'input':'x','frequency_penalty':true|frequency_penalty",
        "'input':'x','max_output_tokens':0|max_output_tokens",
        "'input':'x','max_output_tokens':1.5|max_output_tokens",
        "'input':'x','max_output_tokens':'5'|max_output_tokens",
        "'input':'x','max_tool_calls':0|max_tool_calls",
        "'input':'x','top_logprobs':21|top_logprobs",
        "'input':'x','include':'all'|include",
        "'input':'x','instructions':[]|instructions",
        "'input':'x','truncation':'some'|truncation",
        "'input':'x','service_tier':'gold'|service_tier",
        "'input':'x','parallel_tool_calls':0|parallel_tool_calls",
        "'input':'x','text':{'verbosity':'loud'}|text.verbosity",
        "'input':'x','reasoning':{'effort':'some'}|reasoning.effort",
        "'input':'x','metadata':{'a':5}|metadata",
        "'input':'x','safety_identifier':5|safety_identifier",
        "'input':'x','prompt_cache_key':{}|prompt_cache_key",
        "'input':'x','previous_response_id':7|previous_response_id",
        "'input':[{'content':'x'}]|input[0].type",
        "'input':[{'role':'critic','content':'x'}]|input[0].role",
        "'input':[{'role':'user'}]|input[0].content",
        "'input':[{'role':'user','content':5}]|input[0].content",
        "'input':[{'role':'user','content':['x']}]|input[0].content[0]",
        "'input':[{'role':'user','content':[{'type':'input_image'}]}]|input[0].content[0].type",
        "'input':[{'role':'user','content':[{'type':'input_file'}]}]|input[0].content[0].type",
        "'input':[{'role':'user','content':[{'type':'input_audio'}]}]|input[0].content[0].type",
        "'input':[{'role':'user','content':[{'type':'input_text'}]}]|input[0].content[0].text",
        "'input':[{'role':'assistant','content':'x','phase':'third'}]|input[0].phase",
        "'input':[{'type':'item_reference'}]|input[0].id",
        "'input':[{'type':'compaction'}]|input[0].encrypted_content",
        "'input':[{'type':'compaction','encrypted_content':'x'}]|input[0].encrypted_content",
        "'input':[{'type':'compaction','encrypted_content':'fl1_/w'}]|input[0].encrypted_content",
        "'input':[{'type':'web_search_call'}]|input[0].type",
        "'input':[{'type':'function_call','name':'f','arguments':'{}'}]|input[0].call_id",
        "'input':[{'type':'function_call','call_id':'c','arguments':'{}'}]|input[0].name",
        "'input':[{'type':'function_call','call_id':'c','name':'f'}]|input[0].arguments",
        "'input':[{'type':'function_call_output','call_id':'c'}]|input[0].output",
        "'input':[{'type':'reasoning','summary':'x'}]|input[0].summary",
      })
  void what_cannot_be_is_refused_by_name(String fields, String param) {
    MeshException refusal = refusal(fields.replaceAll("^(?!.*'model')", "'model':'m',"));

    assertThat(refusal.kind()).isEqualTo(FailureKind.INVALID_REQUEST);
    assertThat(refusal.param()).isEqualTo(param);
    assertThat(refusal.getMessage()).startsWith(param);
  }

  @Test
  void too_many_items_are_refused_with_the_limit() {
    String items =
        IntStream.range(0, 9)
            .mapToObj(_ -> "{'role':'user','content':'x'}")
            .collect(Collectors.joining(","));

    assertThat(refusal("'model':'m','input':[" + items + "]").getMessage())
        .isEqualTo("input must have at most 8 elements.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"resp 1", "", "resp_\\u2028"})
  void a_previous_response_that_cannot_exist_is_not_found(String id) {
    MeshException refusal =
        refusal("'model':'m','input':'x','previous_response_id':'%s'".formatted(id));

    assertThat(refusal.kind()).isEqualTo(FailureKind.NOT_FOUND);
    assertThat(refusal.code()).isEqualTo("previous_response_not_found");
  }

  @Test
  void a_web_socket_may_say_how_to_stream_but_is_not_listened_to() {
    ResponseRequest request =
        reader()
            .read(
                body(
                    "'type':'response.create','model':'m','input':[],'stream':'x',"
                        + "'stream_options':5,'background':true,'generate':false"),
                Transport.WEB_SOCKET);

    assertThat(request.stream()).isTrue();
    assertThat(request.generate()).isFalse();
  }

  @Test
  void whatever_json_comes_is_read_or_refused_as_a_mistake_of_the_client() {
    long seed = Long.getLong("seed", 22);
    SplittableRandom random = new SplittableRandom(seed);
    int read = 0;
    for (int round = 0; round < 20_000; round++) {
      ObjectNode body = Json.object().put("model", "m").put("input", "hi");
      for (int fields = random.nextInt(3); fields >= 0; fields--) {
        body.set(pick(random, FIELDS), randomValue(random, 3));
      }
      try {
        ResponseRequest request = reader().read(body, pick(random, List.of(Transport.values())));
        messages(request);
        read++;
      } catch (MeshException refusal) {
        assertThat(refusal.kind()).isIn(FailureKind.INVALID_REQUEST, FailureKind.NOT_FOUND);
      } catch (RuntimeException e) {
        throw new AssertionError(
            "%s%nrepeat with: mvn test -Dtest=ResponsesReaderTest -Dseed=%d".formatted(body, seed),
            e);
      }
    }
    assertThat(read).isBetween(1_000, 19_000);
  }

  private static JsonNode randomValue(SplittableRandom random, int depth) {
    if (depth > 0 && random.nextInt(3) == 0) {
      ArrayNode list = Json.array();
      for (int i = random.nextInt(3); i >= 0; i--) {
        list.add(randomValue(random, depth - 1));
      }
      return list;
    }
    if (depth > 0 && random.nextBoolean()) {
      ObjectNode object = Json.object();
      for (int i = random.nextInt(5); i >= 0; i--) {
        object.set(pick(random, NESTED), randomValue(random, depth - 1));
      }
      return object;
    }
    return JSON.value(pick(random, SCALARS));
  }

  private static <T> T pick(SplittableRandom random, List<T> from) {
    return from.get(random.nextInt(from.size()));
  }

  static ResponseRequest read(String fields) {
    return reader().read(body("'model':'m'," + fields), Transport.HTTP);
  }

  static MeshException refusal(String fields) {
    return catchThrowableOfType(
        MeshException.class, () -> reader().read(body(fields), Transport.HTTP));
  }

  private static ObjectNode body(String fields) {
    return JSON.object(Buffer.buffer("{" + fields.replace('\'', '"') + "}"));
  }

  private static List<ChatMessage> messages(ResponseRequest request) {
    ResponsePrompt prompt = new ResponsePrompt(JSON, request.instructions());
    prompt.addInput(request.input());
    return prompt.conversation(List.of()).messages();
  }
}
