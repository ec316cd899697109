package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import firstlight.protocol.ConversationId;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Finds what a Response builds on, and makes the turn that is to answer it. */
final class ResponsePreparation {
  private final EdgeParts parts;
  private final ResponseStore store;
  private final Caller caller;
  private final ResponseRequest request;

  /**
   * A Response that can be begun.
   *
   * @param history that it builds on
   * @param input its new Items, without references
   */
  record Prepared(ResponseHistory history, ArrayNode input, TurnRequest turn) {
    TurnPrompt.Conversation conversation() {
      return (TurnPrompt.Conversation) turn.prompts().getFirst();
    }
  }

  ResponsePreparation(ResponseParts responses, Caller caller, ResponseRequest request) {
    this.parts = responses.edge();
    this.store = responses.store();
    this.caller = caller;
    this.request = request;
  }

  /**
   * @param known what the request builds on, where that need not be looked up
   * @return fails with what the client is to be told
   */
  Future<Prepared> prepare(@Nullable ResponseHistory known) {
    ConversationId conversation = request.conversation();
    Future<Prepared> prepared =
        conversation == null
            ? history(known).compose(history -> prepare(history, UnaryOperator.identity()))
            : ResponseConversation.store(store, parts.json())
                .items(caller.tenant(), conversation)
                .compose(this::prepare);
    return prepared.compose(this::fitting);
  }

  private Future<Prepared> prepare(ConversationItems items) {
    return prepare(
        new ResponseHistory(items.turns(), List.of()),
        input -> items.fresh(input, parts.json(), parts.ids()));
  }

  /**
   * @param named gives new Items ids that they can keep
   */
  private Future<Prepared> prepare(ResponseHistory history, UnaryOperator<ArrayNode> named) {
    return new ResponseReferences(parts.json(), store, caller.tenant())
        .resolve(request.input(), history)
        .map(named)
        .map(input -> prepared(history, input));
  }

  private Future<Prepared> fitting(Prepared prepared) {
    return request.echo().get("truncation").textValue().equals("auto") && request.generate()
        ? new ResponseTruncation(parts.turns(), prepared.turn())
            .fit()
            .map(turn -> new Prepared(prepared.history(), prepared.input(), turn))
        : Future.succeededFuture(prepared);
  }

  private Future<ResponseHistory> history(@Nullable ResponseHistory known) {
    ResponseId previous = request.previous();
    if (known != null || previous == null) {
      return Future.succeededFuture(known != null ? known : ResponseHistory.NONE);
    }
    return store
        .history(caller.tenant(), previous)
        .map(turns -> new ResponseHistory(turns, List.of()));
  }

  private Prepared prepared(ResponseHistory history, ArrayNode input) {
    ResponsePrompt prompt = new ResponsePrompt(parts.json(), request.instructions());
    for (StoredTurn turn : history.turns()) {
      prompt.addKnown((ArrayNode) parts.json().value(turn.input()));
      prompt.addKnown((ArrayNode) parts.json().value(turn.output()));
    }
    prompt.addInput(input);
    TurnPrompt whole = prompt.conversation(request.form().tools());
    return new Prepared(history, input, turn(whole, origin(history, input, whole)));
  }

  private TurnOrigin origin(ResponseHistory history, ArrayNode input, TurnPrompt whole) {
    ConversationId conversation = request.conversation();
    List<StoredTurn> turns = history.turns();
    String first = turns.isEmpty() ? "" : turns.getFirst().response().value();
    return new TurnOrigin(
        caller.requestId(),
        "responses",
        request.previous(),
        conversation == null ? "" : conversation.value(),
        conversation == null ? first : conversation.value(),
        request.stream(),
        request.store(),
        parts.config().text(caller.tenant(), request.store()),
        List.of(turns.isEmpty() ? whole : fresh(input)));
  }

  private TurnPrompt fresh(ArrayNode input) {
    ResponsePrompt fresh = new ResponsePrompt(parts.json(), request.instructions());
    fresh.addKnown(input);
    return fresh.conversation(List.of());
  }

  private TurnRequest turn(TurnPrompt prompt, TurnOrigin origin) {
    return new TurnRequest(
        request.id(),
        caller.tenant(),
        origin,
        request.model(),
        List.of(prompt),
        1,
        request.sampling(),
        request.outputMax(),
        List.of(),
        request.form(),
        false,
        new Urgency(request.priority(), caller.firstTokenMillis()));
  }
}
