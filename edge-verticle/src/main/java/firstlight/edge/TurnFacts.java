package firstlight.edge;

import firstlight.model.AnswerParser;
import firstlight.model.AnswerPart;
import firstlight.model.Tokenizer;
import firstlight.model.Utf8Stream;
import firstlight.protocol.CalledTool;
import firstlight.protocol.Event;
import firstlight.protocol.EventBody;
import firstlight.protocol.EventWire;
import firstlight.protocol.FinishedResponse;
import firstlight.protocol.KeptText;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.TextPolicy;
import firstlight.protocol.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a settled turn was, for the data lake: the finished Response, the tools it called, and its
 * failure. All that takes time is done in {@link #build}, away from the event loop.
 *
 * @param model null where the request named none there is
 * @param time when it was settled: Unix time, ms
 */
record TurnFacts(
    TurnRequest request,
    TurnAccount account,
    Usage usage,
    NodeId node,
    @Nullable EdgeModel model,
    long time,
    TextKeeper keeper)
    implements EventDraft {
  private static final int OVERHEAD_BYTES = 1_024;

  @Override
  public Importance importance() {
    return refused() ? Importance.FACT : Importance.USAGE;
  }

  @Override
  public int weight() {
    return OVERHEAD_BYTES + account.answers().stream().mapToInt(AnswerTrace::weight).sum();
  }

  @Override
  public List<firstlight.protocol.wire.Event> build() {
    List<firstlight.protocol.wire.Event> events = new ArrayList<>();
    if (!refused()) {
      List<Answered> answered = account.answers().stream().map(this::answered).toList();
      events.add(event("response", request.response().value(), response(answered)));
      addCalls(answered, events);
    }
    addFailure(events);
    return events;
  }

  /** One that was not let in is no Response: it is told as a refusal alone. */
  private boolean refused() {
    MeshException failure = account.failure();
    return failure != null && usage.total() == 0 && FailureFacts.isRefusal(failure);
  }

  private firstlight.protocol.wire.Event event(String kind, String fact, EventBody body) {
    String id = Event.idOf(request.tenant(), kind, fact);
    return EventWire.of(new Event(id, time, request.tenant(), node, session(), body));
  }

  private String session() {
    String session = request.origin().session();
    return session.isEmpty() ? request.response().value() : session;
  }

  private FinishedResponse response(List<Answered> answered) {
    TurnOrigin origin = request.origin();
    List<String> outputs = account.answers().stream().map(AnswerTrace::text).toList();
    KeptText kept =
        keeper.keep(
            request.tenant(),
            origin.text(),
            origin.input().isEmpty() ? request.prompts() : origin.input(),
            outputs);
    // Token ids are text for whoever has the vocabulary.
    boolean tokens = kept.policy() == TextPolicy.FULL && kept.redactions() == 0;
    return new FinishedResponse(
        request.response().value(),
        origin.previous() == null ? "" : origin.previous().value(),
        origin.conversation(),
        origin.dialect(),
        new FinishedResponse.Model(
            modelName(),
            model == null ? "" : model.digest(),
            model == null ? "" : model.templateDigest()),
        account.statusWord(),
        account.failure() == null ? "" : account.failure().code(),
        kept,
        usage,
        answered.stream().mapToInt(Answered::reasoningTokens).sum(),
        new FinishedResponse.Timing(
            account.queuedMillis(), account.firstTokenMillis(), account.totalMillis()),
        origin.streamed(),
        origin.stored(),
        "named",
        "the request names the model",
        account.answers().stream().map(answer -> answer.traced(tokens)).toList());
  }

  private void addCalls(List<Answered> answered, List<firstlight.protocol.wire.Event> events) {
    for (int generation = 0; generation < answered.size(); generation++) {
      List<Call> calls = answered.get(generation).calls();
      for (int index = 0; index < calls.size(); index++) {
        String fact = "%s/%d/%d".formatted(request.response(), generation, index);
        events.add(event("tool_call", fact, call(calls.get(index), generation, index)));
      }
    }
  }

  private CalledTool call(Call call, int generation, int index) {
    String arguments = call.arguments().toString();
    TextKeeper.Kept kept = keeper.keep(request.tenant(), request.origin().text(), arguments);
    return new CalledTool(
        request.response().value(),
        request.origin().conversation(),
        CallIds.of(request, generation, index, call.item()),
        generation,
        index,
        call.name(),
        kept.text(),
        kept.digest(),
        Json.isValid(arguments),
        modelName(),
        request.origin().text());
  }

  private String modelName() {
    return model == null ? EdgeModels.shown(request.model()) : model.name();
  }

  private void addFailure(List<firstlight.protocol.wire.Event> events) {
    MeshException failure = account.failure();
    if (failure == null || !FailureFacts.isTold(failure)) {
      return;
    }
    String message =
        keeper.keep(request.tenant(), request.origin().text(), failure.getMessage()).text();
    FailureFacts.Failed failed = failed();
    events.add(
        event(FailureFacts.KIND, failed.fact(), FailureFacts.body(failed, failure, message)));
  }

  private FailureFacts.Failed failed() {
    AnswerTrace first = account.answers().getFirst();
    return new FailureFacts.Failed(
        request.origin().request(),
        request.response().value(),
        request.origin().dialect(),
        modelName(),
        first.replica(),
        first.promptTokens(),
        first.outputMax());
  }

  /**
   * @param item where it stands among the Items of its answer
   */
  private record Call(String name, StringBuilder arguments, int item) {}

  private record Answered(List<Call> calls, int reasoningTokens) {}

  /** Takes an answer apart by the same rules as the dialects do. */
  private Answered answered(AnswerTrace answer) {
    Tokenizer tokenizer = model == null ? null : model.tokenizer();
    AnswerItems items = new AnswerItems();
    AnswerParser parser = account.parsers().get();
    if (tokenizer == null || !request.stop().isEmpty()) {
      // A stop string cuts the text in the midst of tokens.
      items.add(parser.next(answer.text()));
    } else {
      Utf8Stream characters = new Utf8Stream();
      for (int id : answer.ids()) {
        items.add(parser.next(characters.feed(tokenizer.bytes(id))));
        items.countToken();
      }
      items.add(parser.next(characters.flush()));
    }
    items.add(parser.end());
    return new Answered(items.calls, items.reasoningTokens);
  }

  /** The Items of one answer, as far as Events tell of them. */
  private static final class AnswerItems {
    private final List<Call> calls = new ArrayList<>();
    private @Nullable Class<?> open;
    private int items;
    private int reasoningTokens;

    void add(List<AnswerPart> parts) {
      for (AnswerPart part : parts) {
        switch (part) {
          case AnswerPart.Call(String name) -> {
            open = AnswerPart.Call.class;
            calls.add(new Call(name, new StringBuilder(), items++));
          }
          case AnswerPart.Arguments(String json) -> calls.getLast().arguments().append(json);
          case AnswerPart.Text _, AnswerPart.Reasoning _ -> {
            items += open == part.getClass() ? 0 : 1;
            open = part.getClass();
          }
        }
      }
    }

    void countToken() {
      reasoningTokens += open == AnswerPart.Reasoning.class ? 1 : 0;
    }
  }
}
