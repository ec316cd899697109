package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.model.ChatMessage;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.Priority;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.Token;
import firstlight.protocol.wire.ToolCall;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TurnFactsTest {
  private static final TenantId TENANT = new TenantId("a");
  private static final Caller CALLER = new Caller(TENANT, "req_1", 0);
  private static final EdgeModel MODEL =
      new EdgeModel("m", new ByteTokenizer(), Optional.empty(), 1_000, "d1", 0);
  private static final EdgeModels MODELS = new EdgeModels(List.of(MODEL));
  private static final String CALLS = "[hm]look<weather|{\"city\":\"Paris\"}><time|{]>";

  private final SimulatedTime time = new SimulatedTime();
  private final TextKeeper keeper =
      new TextKeeper(new TextsConfig("pepper", List.of(TextsConfig.Redaction.values()), Map.of()));
  private @Nullable TurnRequest request;

  @Test
  void the_trace_has_each_token_with_its_time() {
    TurnAccount account = account(request("chat.completions", TextPolicy.FULL));
    time.advance(Duration.ofMillis(30));
    emit(account, "h", 7);
    time.advance(Duration.ofMillis(4));
    emit(account, "i!", 0);
    finish(account);

    ResponseFinished response = events(account, 3).getFirst().getResponse();

    var one = response.getGenerations(0);
    assertThat(one.getTokenIdsList()).containsExactly((int) 'h', (int) 'i', (int) '!');
    assertThat(one.getTokenMicrosList()).containsExactly(30_000, 4_000, 0);
    assertThat(one.getTokenLogprobsList()).containsExactly(-1f, -1f, -1f);
    assertThat(one.getQueuedMs()).isEqualTo(7);
    assertThat(one.getFirstTokenMs()).isEqualTo(30);
    assertThat(one.getReplica()).isEqualTo("r1");
    assertThat(one.getSeed()).isEqualTo(42);
    assertThat(one.getFinishReason()).isEqualTo("STOP");
    assertThat(one.getStop()).isEqualTo("!");
    assertThat(List.of(one.getPromptTokens(), one.getCachedTokens(), one.getOutputTokens()))
        .containsExactly(5, 4, 3);
    assertThat(response.getModelDigest()).isEqualTo("d1");
    assertThat(response.getInputMessages(0).getText()).isEqualTo("my question");
    assertThat(response.getOutput()).isEqualTo("hi!");
    assertThat(response.getTextPolicy()).isEqualTo("full");
  }

  @Test
  void a_tool_call_is_an_event_of_its_own_after_the_response() {
    List<Event> events = answered("responses", TextPolicy.FULL, CALLS);

    assertThat(events)
        .extracting(Event::getBodyCase)
        .containsExactly(
            Event.BodyCase.RESPONSE, Event.BodyCase.TOOL_CALL, Event.BodyCase.TOOL_CALL);
    ToolCall weather = events.get(1).getToolCall();
    ToolCall broken = events.get(2).getToolCall();
    assertThat(weather.getName()).isEqualTo("weather");
    assertThat(weather.getArguments()).isEqualTo("{\"city\":\"Paris\"}");
    assertThat(weather.getArgumentsValid()).isTrue();
    // Items 0 and 1 are the reasoning and the text.
    assertThat(weather.getCallId()).isEqualTo("call_1_o2");
    assertThat(broken.getIndex()).isEqualTo(1);
    assertThat(broken.getArgumentsValid()).isFalse();
    assertThat(events).extracting(Event::getId).doesNotHaveDuplicates();
    assertThat(events).extracting(Event::getSession).containsOnly("resp_1");
    assertThat(events.getFirst().getResponse().getReasoningTokens()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"chat.completions,call_1_0_0", "messages,toolu_1_0", "responses,call_1_o2"})
  void a_call_has_the_id_that_its_client_was_told(String dialect, String id) {
    assertThat(answered(dialect, TextPolicy.FULL, CALLS).get(1).getToolCall().getCallId())
        .isEqualTo(id);
  }

  @Test
  void the_same_turn_told_again_has_the_same_ids() {
    assertThat(answered("responses", TextPolicy.FULL, CALLS))
        .extracting(Event::getId)
        .containsExactlyElementsOf(
            answered("responses", TextPolicy.FULL, CALLS).stream().map(Event::getId).toList());
  }

  @Test
  void what_is_hashed_can_be_compared_and_not_read() {
    List<Event> events = answered("responses", TextPolicy.HASHED, CALLS);
    List<Event> again = answered("responses", TextPolicy.HASHED, CALLS);
    List<Event> other = answered("responses", TextPolicy.HASHED, "x");

    assertNoText(events);
    ResponseFinished response = events.getFirst().getResponse();
    assertThat(response.getOutputDigest())
        .hasSize(64)
        .isEqualTo(again.getFirst().getResponse().getOutputDigest())
        .isNotEqualTo(other.getFirst().getResponse().getOutputDigest());
    assertThat(response.getInputDigest())
        .hasSize(64)
        .isEqualTo(other.getFirst().getResponse().getInputDigest());
    assertThat(events.get(1).getToolCall().getArgumentsDigest()).hasSize(64);
  }

  @Test
  void without_the_key_nobody_can_make_the_same_digest() {
    TextKeeper other = new TextKeeper(new TextsConfig("salt", List.of(), Map.of()));

    assertThat(keeper.keep(TENANT, TextPolicy.HASHED, "yes").digest())
        .isNotEqualTo(other.keep(TENANT, TextPolicy.HASHED, "yes").digest())
        .isNotEqualTo(keeper.keep(new TenantId("b"), TextPolicy.HASHED, "yes").digest());
  }

  @Test
  void what_is_not_to_be_kept_leaves_numbers_and_names() {
    List<Event> events = answered("responses", TextPolicy.NONE, CALLS);

    assertNoText(events);
    assertThat(events.getFirst().getResponse().getOutputDigest()).isEmpty();
    assertThat(events.getFirst().getResponse().getOutputTokens()).isEqualTo(3);
    assertThat(events.get(1).getToolCall().getName()).isEqualTo("weather");
    assertThat(events.get(1).getToolCall().getArgumentsDigest()).isEmpty();
  }

  @Test
  void where_something_was_redacted_the_token_ids_do_not_tell_it() {
    ResponseFinished response =
        answered("responses", TextPolicy.FULL, "ask ada@example.org").getFirst().getResponse();

    assertThat(response.getOutput()).isEqualTo("ask [redacted:email]");
    assertThat(response.getRedactions()).isEqualTo(1);
    assertThat(response.getGenerations(0).getTokenIdsList()).isEmpty();
    assertThat(response.getGenerations(0).getTokenMicrosCount()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({
    "OVERLOADED,overloaded,REFUSAL,batcher",
    "TENANT_LIMIT,tenant_requests_exceeded,REFUSAL,edge",
    "DEVICE_LOST,device_lost,RESPONSE ERROR,gpu",
    "UNAVAILABLE,no_replica,RESPONSE ERROR,batcher",
    "INTERNAL,internal_error,RESPONSE ERROR,edge",
    "NOT_FOUND,model_not_found,RESPONSE,",
  })
  void a_failure_is_told_by_the_part_that_failed(
      FailureKind kind, String code, String bodies, @Nullable String domain) {
    TurnAccount account = account(request("responses", TextPolicy.FULL));
    account.concluded(
        TurnAccount.Status.FAILED, new MeshException(kind, code, "It failed.", null, 250));

    List<Event> events = events(account, 0);

    assertThat(events)
        .extracting(event -> event.getBodyCase().name())
        .containsExactly(bodies.split(" "));
    Event last = events.getLast();
    if (last.hasError()) {
      assertThat(last.getError().getDomain()).isEqualTo(domain);
      assertThat(last.getError().getRequestId()).isEqualTo("req_1");
      assertThat(last.getError().getMessage()).isEqualTo("It failed.");
    } else if (last.hasRefusal()) {
      assertThat(last.getRefusal().getDomain()).isEqualTo(domain);
      assertThat(last.getRefusal().getRetryAfterMs()).isEqualTo(250);
      assertThat(last.getRefusal().getPromptTokens()).isEqualTo(5);
    }
  }

  private static void assertNoText(List<Event> events) {
    ResponseFinished response = events.getFirst().getResponse();
    assertThat(response.getInputMessagesList()).isEmpty();
    assertThat(response.getOutput()).isEmpty();
    assertThat(response.getGenerations(0).getTokenIdsList()).isEmpty();
    assertThat(events.get(1).getToolCall().getArguments()).isEmpty();
  }

  private List<Event> answered(String dialect, TextPolicy policy, String text) {
    TurnAccount account = account(request(dialect, policy));
    emit(account, text, 0);
    finish(account);
    return events(account, 3);
  }

  private static TurnRequest request(String dialect, TextPolicy policy) {
    return new TurnRequest(
        new ResponseId("resp_1"),
        TENANT,
        TurnOrigin.alone(CALLER, dialect, false, policy),
        "m",
        List.of(
            new TurnPrompt.Conversation(
                List.of(new ChatMessage("user", "my question")), List.of(), Map.of())),
        1,
        Sampling.greedy(0),
        OptionalInt.empty(),
        List.of(),
        AnswerForm.FREE,
        false,
        Urgency.NORMAL);
  }

  private TurnAccount account(TurnRequest request) {
    EdgeMetrics metrics = new EdgeMetrics(new SimpleMeterRegistry(), MODELS);
    TurnAccount account = new TurnAccount(request, metrics, time);
    this.request = request;
    account.prepared(MarkedParser::new);
    account.placed(0, new ReplicaId("r1"), spec());
    return account;
  }

  private static GenerationSpec spec() {
    Sampling greedy = Sampling.greedy(0);
    Sampling seeded =
        new Sampling(
            greedy.temperature(),
            greedy.topK(),
            greedy.topP(),
            greedy.minP(),
            greedy.repetitionPenalty(),
            greedy.presencePenalty(),
            greedy.frequencyPenalty(),
            greedy.biasTokens(),
            greedy.biasValues(),
            42,
            greedy.topLogprobs());
    return new GenerationSpec(
        new GenerationId("gen_1"),
        TENANT,
        "m",
        new int[5],
        new int[0],
        9,
        seeded,
        List.of(),
        new int[0],
        0,
        Priority.NORMAL,
        false,
        "",
        false);
  }

  private void emit(TurnAccount account, String text, int queuedMillis) {
    Emission.Builder emission = Emission.newBuilder().setQueuedMs(queuedMillis);
    for (int id : new ByteTokenizer().encode(text)) {
      emission.addTokens(Token.newBuilder().setId(id).setLogprob(-1));
    }
    account.emitted(0, emission.build(), text);
  }

  private static void finish(TurnAccount account) {
    account.finished(0, FinishReason.STOP, "!");
    account.concluded(TurnAccount.Status.COMPLETED, null);
  }

  private List<Event> events(TurnAccount account, int output) {
    Usage usage = output == 0 ? Usage.NONE : new Usage(5, 4, output);
    account.cost(0, usage);
    return new TurnFacts(request, account, usage, new NodeId("n"), MODEL, 5, keeper).build();
  }
}
