package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.model.AnswerPart;
import firstlight.model.ChatMessage;
import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes a conversation short: the model itself writes what it needs to go on. The window that comes
 * of it has that as one Item, and behind it the calls that nobody has answered yet.
 */
final class ResponseCompaction {
  private static final String TASK =
      "Sum up this conversation, so that you can go on with nothing but the summary: what was asked"
          + " for, found out and decided, and what is still to be done. Write the summary only.";

  private final EdgeParts parts;
  private final ResponseRequest request;
  private final ResponsePreparation.Prepared prepared;
  private final Promise<ObjectNode> window = Promise.promise();
  private final StringBuilder summary = new StringBuilder();
  private AnswerParser parser = AnswerParser.plain();
  private @Nullable TurnHandle turn;
  private boolean over;

  /**
   * @param request whose answer is the summary
   */
  ResponseCompaction(
      EdgeParts parts, ResponseRequest request, ResponsePreparation.Prepared prepared) {
    this.parts = parts;
    this.request = request;
    this.prepared = prepared;
  }

  /** The window: a CompactResource of the specification. */
  Future<ObjectNode> run() {
    TurnPrompt.Conversation all = prepared.conversation();
    List<ChatMessage> messages = new ArrayList<>(all.messages());
    messages.add(new ChatMessage("user", TASK));
    TurnRequest asked =
        prepared.turn().withPrompt(new TurnPrompt.Conversation(messages, all.tools(), all.extra()));
    new ResponseTruncation(parts.turns(), asked)
        .fit()
        .onSuccess(
            fitting -> {
              if (!over) {
                turn = parts.turns().start(fitting, this::on);
              }
            })
        .onFailure(window::fail);
    return window.future();
  }

  /** Nobody waits for it any more. */
  void cancel() {
    over = true;
    if (turn != null) {
      turn.cancel();
    }
  }

  private void on(TurnEvent event) {
    switch (event) {
      case TurnEvent.Started started -> parser = started.parsers().get();
      case TurnEvent.Delta delta -> add(parser.next(delta.text()));
      case TurnEvent.ChoiceFinished _ -> add(parser.end());
      case TurnEvent.Finished finished ->
          window.complete(window(new ResponseResource.Cost(finished.usage(), 0)));
      case TurnEvent.Failed failed -> window.fail(failed.failure());
    }
  }

  private void add(List<AnswerPart> answer) {
    for (AnswerPart part : answer) {
      if (part instanceof AnswerPart.Text(String text)) {
        summary.append(text);
      }
    }
  }

  private ObjectNode window(ResponseResource.Cost cost) {
    ObjectNode window =
        Json.object().put("id", request.id().value()).put("object", "response.compaction");
    ArrayNode output = window.putArray("output");
    output
        .addObject()
        .put("type", "compaction")
        .put("id", ResponseResource.itemId("cmp_", request.id(), "_o0"))
        .put("encrypted_content", ResponseSummary.encode(summary.toString().strip()));
    output.addAll(unanswered());
    window.put("created_at", parts.time().epochMillis() / 1_000);
    cost.put(window.putObject("usage"));
    return window;
  }

  private List<JsonNode> unanswered() {
    Map<String, JsonNode> calls = new LinkedHashMap<>();
    for (StoredTurn known : prepared.history().turns()) {
      follow(parts.json().value(known.input()), calls);
      follow(parts.json().value(known.output()), calls);
    }
    follow(prepared.input(), calls);
    return List.copyOf(calls.values());
  }

  private static void follow(JsonNode items, Map<String, JsonNode> calls) {
    for (JsonNode item : items) {
      String type = item.path("type").asText();
      if (type.equals("function_call")) {
        ((ObjectNode) item).remove(ResponseCuts.KEY);
        calls.put(item.path("call_id").asText(), item);
      } else if (type.equals("function_call_output")) {
        calls.remove(item.path("call_id").asText());
      }
    }
  }
}
