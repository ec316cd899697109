package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.TenantId;
import firstlight.protocol.wire.Event;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FeedbackRouteTest {
  private static final TenantId A = new TenantId("a");
  private static final TenantId B = new TenantId("b");
  private static final String RATING =
      "{'id':'r1','target':{'response_id':'resp_1'},'name':'rating','value':4}";

  private final FakeEvents events = new FakeEvents();
  private final FeedbackMemory memory = new FeedbackMemory();
  private final Feedbacks feedbacks = node("edge-1");

  @Test
  void feedback_for_a_response_nobody_knows_is_taken_with_202() {
    Future<Feedbacks.Answer> answer = take(A, RATING);

    assertThat(answer.result()).isEqualTo(new Feedbacks.Answer(202, "r1"));
    assertThat(answer.result().json().toString())
        .isEqualTo("{\"id\":\"r1\",\"object\":\"feedback\",\"status\":\"accepted\"}");
    Event event = events.accepted.getFirst();
    assertThat(event.getTenant()).isEqualTo("a");
    assertThat(event.getNode()).isEqualTo("edge-1");
    assertThat(event.getSchema()).isEqualTo(1);
    assertThat(event.getFeedback().getResponseId()).isEqualTo("resp_1");
    assertThat(event.getFeedback().getDataType()).isEqualTo("numeric");
    assertThat(event.getFeedback().getNumber()).isEqualTo(4);
  }

  @Test
  void the_same_again_is_200_however_it_is_written_and_makes_no_second_event() {
    take(A, RATING);

    Future<Feedbacks.Answer> again =
        take(A, "{'name':'rating', 'value':4.0, 'target':{'response_id':'resp_1'}, 'id':'r1'}");

    assertThat(again.result()).isEqualTo(new Feedbacks.Answer(200, "r1"));
    assertThat(events.accepted).hasSize(1);
  }

  @Test
  void another_body_with_the_same_id_is_409() {
    take(A, RATING);

    MeshException failure = failure(A, RATING.replace('4', '5'));

    assertThat(failure.kind()).isEqualTo(FailureKind.CONFLICT);
    assertThat(failure.param()).isEqualTo("id");
  }

  @Test
  void ids_of_two_tenants_have_nothing_to_do_with_each_other() {
    take(A, RATING);

    assertThat(take(B, RATING.replace('4', '5')).result().status()).isEqualTo(202);
    assertThat(events.accepted).extracting(Event::getId).doesNotHaveDuplicates();
  }

  @Test
  void a_repeat_on_another_node_has_the_same_event_id() {
    take(A, RATING);
    Feedbacks other =
        new Feedbacks(
            events, new FeedbackMemory(), ids(2), new SimulatedTime(), new NodeId("edge-2"));

    assertThat(other.take(A, json(RATING)).result().status()).isEqualTo(202);

    assertThat(events.accepted).extracting(Event::getId).hasSize(2).containsOnly(eventId());
  }

  @Test
  void two_instances_on_a_node_share_what_they_remember() {
    take(A, RATING);

    assertThat(node("edge-1").take(A, json(RATING)).result().status()).isEqualTo(200);
  }

  @Test
  void without_an_id_each_is_a_feedback_of_its_own() {
    String anonymous = RATING.replace("'id':'r1',", "");

    String first = take(A, anonymous).result().id();
    String second = take(A, anonymous).result().id();

    assertThat(first).startsWith("fb_").isNotEqualTo(second);
    assertThat(events.accepted).hasSize(2);
  }

  @Test
  void while_kafka_is_away_it_is_refused_and_can_be_sent_again() {
    events.failure = new MeshException(FailureKind.UNAVAILABLE, "x", "away", null, 5000);

    assertThat(failure(A, RATING).retryAfterMillis()).isEqualTo(5000);
    events.failure = null;

    assertThat(take(A, RATING).result().status()).isEqualTo(202);
  }

  @Test
  void a_repeat_waits_for_the_first_and_fails_with_it() {
    Promise<Void> kafka = Promise.promise();
    events.pending = kafka;
    Future<Feedbacks.Answer> first = take(A, RATING);
    Future<Feedbacks.Answer> second = take(A, RATING);
    assertThat(second.isComplete()).isFalse();

    kafka.fail(new MeshException(FailureKind.UNAVAILABLE, "x", "away"));

    assertThat(first.failed()).isTrue();
    assertThat(second.failed()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "true            | boolean     | 1  | ''",
        "false           | boolean     | 0  | ''",
        "0.25            | numeric     | .25| ''",
        "'good'          | categorical | 0  | good",
      },
      quoteCharacter = '`')
  void the_type_follows_from_the_value(String value, String type, double number, String text) {
    take(A, "{'target':{'item_id':'msg_1'},'name':'n','value':%s}".formatted(value));

    var feedback = events.accepted.getFirst().getFeedback();
    assertThat(feedback.getDataType()).isEqualTo(type);
    assertThat(feedback.getNumber()).isEqualTo(number);
    assertThat(feedback.getText()).isEqualTo(text.replace("''", ""));
    assertThat(feedback.hasText()).isEqualTo(type.equals("categorical"));
  }

  @Test
  void everything_of_the_union_arrives() {
    take(
        A,
        "{'target':{'response_id':'r','token_range':{'start':2,'end':5}},'name':'n',"
            + "'value':'long','data_type':'text','comment':'c','correction':'k','source':'user',"
            + "'metadata':{'x':'y'}}");

    var feedback = events.accepted.getFirst().getFeedback();
    assertThat(feedback.getTokenRange().getStart()).isEqualTo(2);
    assertThat(feedback.getTokenRange().getEnd()).isEqualTo(5);
    assertThat(feedback.getText()).isEqualTo("long");
    assertThat(feedback.getComment()).isEqualTo("c");
    assertThat(feedback.getCorrection()).isEqualTo("k");
    assertThat(feedback.getSource()).isEqualTo("user");
    assertThat(feedback.getMetadataMap()).containsEntry("x", "y");
  }

  @Test
  void a_comment_alone_needs_no_name() {
    take(A, "{'target':{'conversation_id':'c1'},'comment':'nice'}");

    assertThat(events.accepted.getFirst().getFeedback().getName()).isEqualTo("comment");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'name':'n','value':1} | target",
        "{'target':{},'name':'n','value':1} | target",
        "{'target':{'response_id':'a','item_id':'b'},'name':'n','value':1} | target",
        "{'target':'resp_1','name':'n','value':1} | target",
        "{'target':{'response_id':'../x'},'name':'n','value':1} | target.response_id",
        "{'target':{'response_id':'a%00b'},'name':'n','value':1} | target.response_id",
        "{'target':{'response_id':5},'name':'n','value':1} | target.response_id",
        "{'target':{'response_id':'a','token_range':{'start':3,'end':3}},'name':'n','value':1}"
            + " | target.token_range.end",
        "{'target':{'response_id':'a','token_range':{'start':-1,'end':3}},'name':'n','value':1}"
            + " | target.token_range.start",
        "{'target':{'conversation_id':'a','token_range':{'start':1,'end':3}},'comment':'n'}"
            + " | target.token_range",
        "{'id':'','target':{'response_id':'a'},'name':'n','value':1} | id",
        "{'target':{'response_id':'a'},'value':1} | name",
        "{'target':{'response_id':'a'},'name':' ','value':1} | name",
        "{'target':{'response_id':'a'},'name':'n'} | value",
        "{'target':{'response_id':'a'},'name':'n','value':[1]} | value",
        "{'target':{'response_id':'a'},'name':'n','value':1e999} | value",
        "{'target':{'response_id':'a'},'name':'n','value':1,'data_type':'boolean'} | value",
        "{'target':{'response_id':'a'},'name':'n','value':'1','data_type':'numeric'} | value",
        "{'target':{'response_id':'a'},'name':'n','value':1,'data_type':'star'} | data_type",
        "{'target':{'response_id':'a'},'comment':'c','data_type':'text'} | data_type",
        "{'target':{'response_id':'a'},'comment':5} | comment",
        "{'target':{'response_id':'a'},'comment':'c','metadata':{'k':1}} | metadata.k",
        "{'target':{'response_id':'a'},'comment':'c','metadata':{'k':null}} | metadata.k",
        "{'target':{'response_id':'a'},'comment':'c','metadata':[]} | metadata",
        "{'target':{'response_id':'a'},'comment':'c','valeu':1} | ",
      })
  void what_is_wrong_is_refused_with_its_name(String body, String param) {
    MeshException failure = failure(A, body);

    assertThat(failure.kind()).isEqualTo(FailureKind.INVALID_REQUEST);
    assertThat(failure.param()).isEqualTo(param);
    assertThat(events.accepted).isEmpty();
  }

  @Test
  void every_size_has_a_limit() {
    assertThat(take(A, sized("comment", 16_384)).succeeded()).isTrue();
    assertThat(failure(A, sized("comment", 16_385)).param()).isEqualTo("comment");
    assertThat(failure(A, sized("correction", 65_537)).param()).isEqualTo("correction");
    assertThat(failure(A, sized("source", 65)).param()).isEqualTo("source");
    assertThat(failure(A, sized("id", 129)).param()).isEqualTo("id");
    assertThat(take(A, pairs(16, 64, 512)).succeeded()).isTrue();
    assertThat(failure(A, pairs(17, 64, 512)).param()).isEqualTo("metadata");
    assertThat(failure(A, pairs(1, 65, 512)).param()).isEqualTo("metadata");
    assertThat(failure(A, pairs(1, 64, 513)).param()).startsWith("metadata.");
  }

  private static String sized(String field, int size) {
    ObjectNode body = json("{'target':{'response_id':'a'},'name':'n','value':1}");
    return body.put(field, "x".repeat(size)).toString();
  }

  private static String pairs(int count, int name, int value) {
    ObjectNode body = json("{'target':{'response_id':'a'},'name':'n','value':1}");
    ObjectNode metadata = body.putObject("metadata");
    for (int i = 0; i < count; i++) {
      metadata.put("%02d".formatted(i) + "k".repeat(name - 2), "v".repeat(value));
    }
    return body.toString();
  }

  private Future<Feedbacks.Answer> take(TenantId tenant, String body) {
    return feedbacks.take(tenant, json(body));
  }

  private MeshException failure(TenantId tenant, String body) {
    Future<Feedbacks.Answer> answer = take(tenant, body);
    assertThat(answer.failed()).as(body).isTrue();
    return (MeshException) answer.cause();
  }

  private String eventId() {
    return Feedbacks.eventId(A, "r1");
  }

  private Feedbacks node(String name) {
    return new Feedbacks(events, memory, ids(1), new SimulatedTime(), new NodeId(name));
  }

  private static IdSource ids(int seed) {
    return new IdSource(new Random(seed));
  }

  private static ObjectNode json(String text) {
    try {
      return (ObjectNode) new ObjectMapper().readTree(text.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(text, e);
    }
  }

  private static final class FakeEvents implements Events {
    private final List<Event> accepted = new ArrayList<>();
    private MeshException failure;
    private Promise<Void> pending;

    @Override
    public void publish(EventDraft draft) {
      throw new AssertionError("feedback must be durable before it is answered");
    }

    @Override
    public Future<Void> accept(EventDraft draft) {
      if (failure != null) {
        return Future.failedFuture(failure);
      }
      accepted.add(draft.build());
      return pending == null ? Future.succeededFuture() : pending.future();
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }
}
