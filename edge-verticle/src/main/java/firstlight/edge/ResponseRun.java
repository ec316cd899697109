package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Usage;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes one Response, whatever way it goes to the client: finds what it builds on, runs the turn,
 * makes its events, and stores the turn before the last of them.
 *
 * <p>Its life: finding the history; then running; then storing; then over. A cancel ends it at any
 * time, and nothing is heard of it afterwards; an answer that is being stored then stays stored.
 */
final class ResponseRun implements TurnHandle {
  /** Hears of one Response, on the verticle's event loop. */
  interface Listener {
    /** The next events, the last ones included; the first ones come when the turn has started. */
    void events(List<ObjectNode> events);

    /**
     * The Response has ended and, if asked for, is stored; its events have all been told.
     *
     * @param history of whoever builds on it
     */
    void ended(ObjectNode response, ResponseHistory history);

    /**
     * @param started whether there were events; the last ones then told the failure
     */
    void failed(MeshException failure, boolean started);
  }

  private final EdgeParts parts;
  private final ResponseStore store;
  private final Caller caller;
  private final ResponseRequest request;
  private final Listener listener;
  private final ResponseStream stream;
  private final long createdMillis;
  private ResponseHistory history = ResponseHistory.NONE;
  private ArrayNode input = Json.array();
  private @Nullable TurnHandle turn;
  private FinishReason reason = FinishReason.END;
  private boolean started;
  private boolean paused;
  private boolean over;

  ResponseRun(ResponseParts responses, Caller caller, ResponseRequest request, Listener listener) {
    this.parts = responses.edge();
    this.store = responses.store();
    this.caller = caller;
    this.request = request;
    this.listener = listener;
    this.createdMillis = parts.time().epochMillis();
    this.stream =
        new ResponseStream(
            new ResponseResource(request.id(), createdMillis / 1_000, request.echo()),
            request.logprobs());
  }

  /**
   * To be called once.
   *
   * @param known what the request builds on, where that need not be looked up
   */
  void start(@Nullable ResponseHistory known) {
    ResponseId previous = request.previous();
    if (known != null || previous == null) {
      begin(known != null ? known : ResponseHistory.NONE);
      return;
    }
    store
        .history(caller.tenant(), previous)
        .map(turns -> new ResponseHistory(turns, List.of()))
        .onComplete(this::found);
  }

  @Override
  public void cancel() {
    over = true;
    if (turn != null) {
      turn.cancel();
    }
  }

  @Override
  public void pause() {
    paused = true;
    if (turn != null) {
      turn.pause();
    }
  }

  @Override
  public void resume() {
    paused = false;
    if (turn != null) {
      turn.resume();
    }
  }

  private void found(AsyncResult<ResponseHistory> found) {
    if (over) {
      return;
    }
    if (found.failed()) {
      fail(found.cause());
    } else {
      begin(found.result());
    }
  }

  private void begin(ResponseHistory history) {
    this.history = history;
    new ResponseReferences(parts.json(), store, caller.tenant())
        .resolve(request.input(), history)
        .compose(
            items -> {
              input = items;
              return form();
            })
        .onComplete(
            form -> {
              if (over) {
                return;
              }
              if (form.failed()) {
                fail(form.cause());
              } else {
                submit(form.result());
              }
            });
  }

  private Future<AnswerForm> form() {
    ResponseForm form = request.form();
    return form.schema() == null
        ? Future.succeededFuture(form.form())
        : parts.vertx().executeBlocking(form::complete, false);
  }

  private void submit(AnswerForm form) {
    try {
      TurnPrompt.Conversation conversation = conversation();
      if (!request.generate()) {
        endWithoutAnswer();
        return;
      }
      turn = parts.turns().start(turnRequest(conversation, form), this::on);
    } catch (RuntimeException e) {
      fail(e);
      return;
    }
    if (paused) {
      turn.pause();
    }
  }

  private void on(TurnEvent event) {
    if (over) {
      return;
    }
    switch (event) {
      case TurnEvent.Started turnStarted -> begun(turnStarted.parsers().get());
      case TurnEvent.Delta delta -> tell(stream.tokens(delta.tokens()));
      case TurnEvent.ChoiceFinished choice -> reason = choice.reason();
      case TurnEvent.Finished finished -> end(finished.usage());
      case TurnEvent.Failed failed -> fail(failed.failure());
    }
  }

  private void begun(AnswerParser parser) {
    started = true;
    tell(stream.started(parser));
  }

  private void end(Usage usage) {
    tell(stream.ended(reason, usage, seconds()));
    finish(usage);
  }

  private void endWithoutAnswer() {
    begun(AnswerParser.plain());
    stream.endedWithoutAnswer(seconds());
    finish(Usage.NONE);
  }

  private void finish(Usage usage) {
    StoredTurn kept;
    try {
      kept =
          new ResponseRecord(parts.json(), caller.tenant(), request, history, input)
              .turn(createdMillis, stream.output(), stream.outcome(), usage);
    } catch (IllegalArgumentException e) {
      fail(new MeshException(FailureKind.TOO_LARGE, "response_too_large", e.getMessage() + "."));
      return;
    }
    Future<Void> stored = request.store() ? store.store(kept) : Future.succeededFuture();
    stored.onComplete(
        result -> {
          if (over) {
            return;
          }
          if (result.failed()) {
            fail(result.cause());
            return;
          }
          tell(List.of(stream.last()));
          over = true;
          listener.ended(
              stream.outcome(),
              request.store() ? history.withStored(kept) : history.withKept(kept));
        });
  }

  private void fail(Throwable failure) {
    MeshException told = Errors.tellable(failure);
    if (started) {
      tell(stream.failed(told));
    }
    // Telling may have found the client gone.
    if (!over) {
      over = true;
      listener.failed(told, started);
    }
  }

  private void tell(List<ObjectNode> events) {
    if (!events.isEmpty() && !over) {
      listener.events(events);
    }
  }

  private TurnPrompt.Conversation conversation() {
    ResponsePrompt prompt = new ResponsePrompt(parts.json(), request.instructions());
    for (StoredTurn turn : history.turns()) {
      prompt.addKnown(items(turn.input()));
      prompt.addKnown(items(turn.output()));
    }
    prompt.addInput(input);
    return prompt.conversation(request.form().form().tools());
  }

  private ArrayNode items(String stored) {
    if (parts.json().value(stored) instanceof ArrayNode items) {
      return items;
    }
    throw new IllegalStateException("Items of a stored turn are not a list");
  }

  private TurnRequest turnRequest(TurnPrompt prompt, AnswerForm form) {
    return new TurnRequest(
        request.id(),
        caller.tenant(),
        "responses",
        request.previous(),
        request.model(),
        List.of(prompt),
        1,
        request.sampling(),
        request.outputMax(),
        List.of(),
        form,
        false,
        new Urgency(request.priority(), caller.firstTokenMillis()),
        request.stream(),
        request.store(),
        request.store() ? Json.text(input) : "");
  }

  private long seconds() {
    return parts.time().epochMillis() / 1_000;
  }
}
