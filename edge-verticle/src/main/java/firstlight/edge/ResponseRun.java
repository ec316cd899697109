package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Usage;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes one Response, whatever way it goes to the client: finds what it builds on, runs the turn,
 * makes its events, and stores the turn before the last of them. What it adds to a conversation is
 * added then, too, in the same transaction; one that fails or is cancelled adds nothing.
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

  private final ResponseParts responses;
  private final EdgeParts parts;
  private final ResponseStore store;
  private final Caller caller;
  private final ResponseRequest request;
  private final Listener listener;
  private final ResponseStream stream;
  private final long createdMillis;
  private ResponsePreparation.@Nullable Prepared prepared;
  private @Nullable TurnHandle turn;
  private FinishReason reason = FinishReason.END;
  private boolean started;
  private boolean paused;
  private boolean storing;
  private boolean over;

  /** What was last given to the store. */
  private Future<Void> stored = Future.succeededFuture();

  ResponseRun(ResponseParts responses, Caller caller, ResponseRequest request, Listener listener) {
    this.responses = responses;
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
    new ResponsePreparation(responses, caller, request).prepare(known).onComplete(this::prepared);
  }

  @Override
  public void cancel() {
    over = true;
    if (turn != null) {
      turn.cancel();
    }
  }

  /** The Response as it is now. */
  ObjectNode state() {
    return over ? stream.outcome() : stream.state(started);
  }

  /** What of it there is so far. */
  ResponseSoFar soFar() {
    return stream.soFar();
  }

  /**
   * Ends it as cancelled, and stores what there is of it; then its last event is told. One that has
   * ended already stays as it is, and is stored by then.
   *
   * @return the Response as it is then
   */
  Future<ObjectNode> stop() {
    if (over || storing) {
      return stored.transform(_ -> Future.succeededFuture(stream.outcome()));
    }
    storing = true;
    if (turn != null) {
      turn.cancel();
    }
    stream.cancelled();
    stored = storeAsItIs();
    return stored
        .onFailure(this::fail)
        .map(
            _ -> {
              ObjectNode outcome = stream.outcome();
              if (started) {
                tell(List.of(stream.last()));
                over = true;
                listener.ended(outcome, ResponseHistory.NONE);
              } else {
                over = true;
                listener.failed(ResponseErrors.cancelled(request.id()), false);
              }
              return outcome;
            });
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

  private void prepared(AsyncResult<ResponsePreparation.Prepared> result) {
    if (over || storing) {
      return;
    }
    try {
      begin(result);
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private void begin(AsyncResult<ResponsePreparation.Prepared> result) {
    if (result.failed()) {
      failWithoutTurn(result.cause());
      return;
    }
    prepared = result.result();
    if (!request.generate()) {
      parts.models().find(request.model());
      endWithoutAnswer();
      return;
    }
    turn = parts.turns().start(prepared.turn(), this::on);
    if (paused) {
      turn.pause();
    }
  }

  private void on(TurnEvent event) {
    if (over || storing) {
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
      kept = record(usage);
    } catch (IllegalArgumentException e) {
      fail(new MeshException(FailureKind.TOO_LARGE, "response_too_large", e.getMessage() + "."));
      return;
    }
    storing = true;
    stored = keep(kept);
    stored.onComplete(
        result -> {
          if (over) {
            return;
          }
          if (result.failed()) {
            failWithoutTurn(result.cause());
            return;
          }
          tell(List.of(stream.last()));
          over = true;
          ResponseHistory history = history();
          listener.ended(
              stream.outcome(),
              request.store() ? history.withStored(kept) : history.withKept(kept));
        });
  }

  private Future<Void> keep(StoredTurn turn) {
    if (!request.store()) {
      return Future.succeededFuture();
    }
    ConversationAppend append = ResponseConversation.append(request, turn, parts.ids());
    return append == null
        ? store.store(turn, null)
        : ResponseConversation.store(store, parts.json()).keep(turn, append);
  }

  private StoredTurn record(Usage usage) {
    ArrayNode input = prepared == null ? request.input() : prepared.input();
    return new ResponseRecord(parts.json(), caller.tenant(), request, history(), input)
        .turn(createdMillis, stream.cuts(), stream.outcome(), usage);
  }

  private ResponseHistory history() {
    return prepared == null ? ResponseHistory.NONE : prepared.history();
  }

  /** As {@link #fail}, of what its turn, if it had one, knows nothing of. */
  private void failWithoutTurn(Throwable failure) {
    MeshException told = Errors.tellable(failure);
    parts
        .failures()
        .seen(
            caller.tenant(),
            FailureFacts.Failed.before(
                caller, "responses", request.id().value(), EdgeModels.shown(request.model())),
            told);
    fail(told);
  }

  private void fail(Throwable failure) {
    MeshException told = Errors.tellable(failure);
    List<ObjectNode> last = stream.failed(told);
    if (started) {
      tell(last);
    }
    // Telling may have found the client gone.
    if (!over) {
      over = true;
      // Whoever comes back for it must find how it ended; the store may be what failed.
      stored = request.background() ? storeAsItIs() : Future.succeededFuture();
      stored.onComplete(_ -> listener.failed(told, started));
    }
  }

  private Future<Void> storeAsItIs() {
    return Future.succeededFuture().compose(_ -> store.store(record(Usage.NONE), null));
  }

  private void tell(List<ObjectNode> events) {
    if (!events.isEmpty() && !over) {
      listener.events(events);
    }
  }

  private long seconds() {
    return parts.time().epochMillis() / 1_000;
  }
}
