package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConversationsRouteTest {
  private static final String PATH = "/v1/conversations";

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
  }

  @Test
  void a_conversation_is_made_found_changed_and_deleted() {
    server.advance(Duration.ofSeconds(1));
    ObjectNode made = create("{'metadata':{'a':'b'}}");
    assertThat(made.get("id").textValue()).startsWith("conv_");
    assertThat(made.get("object").textValue()).isEqualTo("conversation");
    assertThat(made.get("created_at").isIntegralNumber()).isTrue();
    assertThat(made.at("/metadata/a").textValue()).isEqualTo("b");
    String path = path(made);
    assertThat(ok(server.get(path))).isEqualTo(made);

    ObjectNode changed = ok(post(path, "{'metadata':{'c':'d'}}"));
    assertThat(changed.get("metadata")).isEqualTo(Json.object().put("c", "d"));
    assertThat(ok(server.get(path))).isEqualTo(changed);
    assertThat(changed.get("id")).isEqualTo(made.get("id"));

    ObjectNode deleted = ok(server.delete(path));
    assertThat(deleted)
        .isEqualTo(
            Json.object()
                .put("id", made.get("id").textValue())
                .put("object", "conversation.deleted")
                .put("deleted", true));
    refused(server.get(path), 404, "conversation_not_found", "conversation_id");
    refused(server.delete(path), 404, "conversation_not_found", "conversation_id");
  }

  @Test
  void an_empty_conversation_has_an_empty_list() {
    ObjectNode made = create("{}");
    assertThat(made.get("metadata")).isEqualTo(Json.object());
    ObjectNode list = ok(server.get(path(made) + "/items"));
    assertThat(list.get("object").textValue()).isEqualTo("list");
    assertThat(list.get("data")).isEmpty();
    assertThat(list.get("first_id").isNull()).isTrue();
    assertThat(list.get("last_id").isNull()).isTrue();
    assertThat(list.get("has_more").booleanValue()).isFalse();
  }

  @Test
  void items_of_every_kind_are_shown_as_the_specification_has_them_newest_first() {
    String path =
        path(
            create(
                "{'items':[{'role':'developer','content':'d'},{'role':'user','content':'u'},"
                    + "{'role':'assistant','content':'a'},"
                    + "{'type':'function_call','call_id':'c1','name':'f','arguments':'{}'},"
                    + "{'type':'function_call_output','call_id':'c1','output':'5'}]}"));
    ObjectNode list = ok(server.get(path + "/items"));
    list.get("data").forEach(item -> ResponseSchemas.load().check("ItemField", (ObjectNode) item));
    assertThat(types(list))
        .containsExactly("function_call_output", "function_call", "message", "message", "message");
    assertThat(list.at("/data/2/content/0/text").textValue()).isEqualTo("a");
    JsonNode one = list.at("/data/1");
    assertThat(ok(server.get(path + "/items/" + one.get("id").textValue()))).isEqualTo(one);
  }

  @Test
  void added_items_are_answered_as_a_list_and_come_after_the_others() {
    String path = path(create(items(1, 2)));
    ObjectNode added = ok(post(path + "/items", items(3, 4)));
    assertThat(texts(added)).containsExactly("3", "4");
    assertThat(added.get("first_id")).isEqualTo(added.at("/data/0/id"));
    assertThat(added.get("last_id")).isEqualTo(added.at("/data/1/id"));
    assertThat(added.get("has_more").booleanValue()).isFalse();
    assertThat(texts(ok(server.get(path + "/items?order=asc"))))
        .containsExactly("1", "2", "3", "4");
  }

  @ParameterizedTest
  @CsvSource({"asc,1", "desc,3", "asc,7", "desc,100"})
  void pages_one_after_the_other_are_the_whole_list(String order, int limit) {
    String path = path(create(items(1, 20)));
    ok(post(path + "/items", items(21, 23)));
    List<String> seen = new ArrayList<>();
    String after = "";
    ObjectNode page;
    do {
      page = ok(server.get("%s/items?order=%s&limit=%d%s".formatted(path, order, limit, after)));
      seen.addAll(texts(page));
      after = "&after=" + page.get("last_id").textValue();
    } while (page.get("has_more").booleanValue());
    List<String> all =
        IntStream.rangeClosed(1, 23).mapToObj(String::valueOf).collect(Collectors.toList());
    assertThat(seen).isEqualTo(order.equals("asc") ? all : all.reversed());
  }

  @Test
  void a_deleted_item_is_gone_from_every_view_and_may_be_added_again() {
    String path =
        path(create("{'items':[" + message("1", "msg_a") + "," + message("2", "m") + "]}"));
    ObjectNode conversation = ok(server.delete(path + "/items/msg_a"));
    assertThat(conversation).isEqualTo(ok(server.get(path)));
    assertThat(texts(ok(server.get(path + "/items")))).containsExactly("2");
    refused(server.get(path + "/items/msg_a"), 404, "item_not_found", "item_id");
    refused(server.delete(path + "/items/msg_a"), 404, "item_not_found", "item_id");

    ObjectNode again = ok(post(path + "/items", "{'items':[" + message("3", "msg_a") + "]}"));

    String id = again.get("first_id").textValue();
    assertThat(id).startsWith("msg_").isNotEqualTo("msg_a");
    assertThat(ok(server.get(path + "/items/" + id))).isEqualTo(again.at("/data/0"));
  }

  @Test
  void no_two_items_have_the_same_id_and_none_has_one_that_no_path_can_have() {
    String path = path(create("{'items':[" + message("1", "x") + "," + message("2", "x") + "]}"));
    ok(
        post(
            path + "/items",
            "{'items':[" + message("3", "x") + "," + message("4", "a/\\u0000") + "]}"));
    ObjectNode list = ok(server.get(path + "/items?order=asc"));
    assertThat(texts(list)).containsExactly("1", "2", "3", "4");
    List<String> ids = new ArrayList<>();
    list.get("data").forEach(item -> ids.add(item.get("id").textValue()));
    assertThat(ids)
        .doesNotHaveDuplicates()
        .startsWith("x")
        .allSatisfy(id -> assertThat(id).matches("[a-z0-9_]+"));
  }

  @Test
  void a_conversation_of_another_tenant_does_not_exist() {
    String path = path(create(items(1, 1)));
    String item = ok(server.get(path + "/items")).get("first_id").textValue();
    List<HttpResponse<String>> answers =
        List.of(
            server.get(path, "tenant", "b"),
            post(path, "{'metadata':{}}", "tenant", "b"),
            server.delete(path, "tenant", "b"),
            server.get(path + "/items", "tenant", "b"),
            post(path + "/items", items(2, 2), "tenant", "b"),
            server.get(path + "/items/" + item, "tenant", "b"),
            server.delete(path + "/items/" + item, "tenant", "b"));
    answers.forEach(answer -> refused(answer, 404, "conversation_not_found", "conversation_id"));
    assertThat(texts(ok(server.get(path + "/items")))).containsExactly("1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"conv_0", "conv%20a", "%00", "conv_%E2%80%A8", "a%2Fb"})
  void ids_that_no_conversation_has_are_not_found(String id) {
    for (String path : List.of(PATH + "/" + id, PATH + "/" + id + "/items")) {
      refused(server.get(path), 404, "conversation_not_found", "conversation_id");
    }
    refused(server.delete(PATH + "/" + id), 404, "conversation_not_found", "conversation_id");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'items':'x'}|items",
        "{'items':[5]}|items[0]",
        "{'items':[{'role':'king','content':'x'}]}|items[0].role",
        "{'items':[{'role':'user','content':[{'type':'input_image'}]}]}|items[0].content[0].type",
        "{'items':[{'type':'web_search_call'}]}|items[0].type",
        "{'items':[{'type':'item_reference','id':'msg_1'}]}|items[0].type",
        "{'metadata':5}|metadata",
        "{'metadata':{'a':5}}|metadata",
      })
  void what_is_wrong_with_a_body_is_named(String body, String param) {
    refused(post(PATH, body), 400, "invalid_value", param);
  }

  @Test
  void there_are_at_most_twenty_items_at_a_time_and_at_least_one_to_add() {
    String path = path(create(items(1, 20)));
    refused(post(PATH, items(1, 21)), 400, "invalid_value", "items");
    refused(post(path + "/items", items(1, 21)), 400, "invalid_value", "items");
    refused(post(path + "/items", "{}"), 400, "invalid_value", "items");
    refused(post(path + "/items", "{'items':[]}"), 400, "invalid_value", "items");
    refused(post(path, "{}"), 400, "invalid_value", "metadata");
    assertThat(ok(server.get(path + "/items?limit=100")).get("data")).hasSize(20);
  }

  @ParameterizedTest
  @CsvSource({
    "limit=0,limit",
    "limit=101,limit",
    "limit=x,limit",
    "order=up,order",
    "after=x,after"
  })
  void what_is_wrong_with_a_query_is_named(String query, String param) {
    String path = path(create(items(1, 1)));
    refused(server.get(path + "/items?" + query), 400, "invalid_value", param);
  }

  @Test
  void what_has_no_effect_is_told() {
    HttpResponse<String> made = post(PATH, "{'items':[],'colour':'red'}");
    assertThat(made.headers().firstValue(IgnoredFields.HEADER)).hasValue("colour");
    String path = path(ok(made));
    assertThat(
            server
                .get(path + "/items?include=message.output_text.logprobs")
                .headers()
                .firstValue(IgnoredFields.HEADER))
        .hasValue("include");
    assertThat(server.get(path + "/items").headers().firstValue(IgnoredFields.HEADER)).isEmpty();
  }

  @Test
  void a_session_that_is_away_is_told_with_a_time_to_come_again() {
    String path = path(create("{}"));
    server.session.mood(FakeSession.Mood.FAILING);
    for (HttpResponse<String> answer :
        List.of(post(PATH, "{}"), server.get(path), server.delete(path))) {
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.headers().firstValue("Retry-After")).isPresent();
    }
    try (ResponsesServer hasty =
        new ResponsesServer(UnaryOperator.identity(), Duration.ofMillis(200))) {
      hasty.session.mood(FakeSession.Mood.SILENT);
      assertThat(hasty.get(path).statusCode()).isEqualTo(503);
    }
  }

  private static ObjectNode create(String body) {
    return ok(post(PATH, body));
  }

  private static HttpResponse<String> post(String path, String body, String... headers) {
    return server.postTo(path, body, headers);
  }

  private static ObjectNode ok(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return server.object(answer);
  }

  private static void refused(HttpResponse<String> answer, int status, String code, String param) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(server.object(answer).at("/error/code").textValue()).isEqualTo(code);
    assertThat(server.object(answer).at("/error/param").textValue()).isEqualTo(param);
  }

  private static String path(ObjectNode conversation) {
    return PATH + "/" + conversation.get("id").textValue();
  }

  /** Messages whose texts are the numbers. */
  private static String items(int from, int to) {
    return IntStream.rangeClosed(from, to)
        .mapToObj("{'role':'user','content':'%d'}"::formatted)
        .collect(Collectors.joining(",", "{'items':[", "]}"));
  }

  private static String message(String text, String id) {
    return "{'role':'user','content':'%s','id':'%s'}".formatted(text, id);
  }

  private static List<String> texts(ObjectNode list) {
    List<String> texts = new ArrayList<>();
    list.get("data").forEach(item -> texts.add(item.at("/content/0/text").textValue()));
    return texts;
  }

  private static List<String> types(ObjectNode list) {
    List<String> types = new ArrayList<>();
    list.get("data").forEach(item -> types.add(item.get("type").textValue()));
    return types;
  }
}
