package firstlight.edge;

import firstlight.model.ChatMessage;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/**
 * Leaves out the oldest turns of a conversation that is too long, no more than it must. The
 * system's messages at the beginning stay, and so does the last turn: from what the user said last.
 * An answer gets up to a quarter of the context.
 */
final class ResponseTruncation {
  private static final int ANSWER_PARTS = 4;

  private final Turns turns;
  private final TurnRequest request;
  private final TurnPrompt.Conversation conversation;
  private final List<Integer> begins;
  private final int head;

  /**
   * @param request with one conversation
   */
  ResponseTruncation(Turns turns, TurnRequest request) {
    this.turns = turns;
    this.request = request;
    this.conversation = (TurnPrompt.Conversation) request.prompts().getFirst();
    List<ChatMessage> messages = conversation.messages();
    int system = 0;
    while (system < messages.size() && messages.get(system).role().equals("system")) {
      system++;
    }
    this.head = system;
    this.begins = new ArrayList<>();
    for (int i = system + 1; i < messages.size(); i++) {
      if (messages.get(i).role().equals("user")) {
        begins.add(i);
      }
    }
  }

  /** The request as it fits, or as short as it may become. */
  Future<TurnRequest> fit() {
    return fits(request)
        .compose(
            fits ->
                fits || begins.isEmpty()
                    ? Future.succeededFuture(request)
                    : search(0, begins.size() - 1));
  }

  /** The first of these beginnings from which on it fits; the last may not. */
  private Future<TurnRequest> search(int from, int last) {
    if (from == last) {
      return Future.succeededFuture(since(last));
    }
    int middle = (from + last) / 2;
    return fits(since(middle))
        .compose(fits -> fits ? search(from, middle) : search(middle + 1, last));
  }

  private TurnRequest since(int begin) {
    List<ChatMessage> messages = conversation.messages();
    List<ChatMessage> kept = new ArrayList<>(messages.subList(0, head));
    kept.addAll(messages.subList(begins.get(begin), messages.size()));
    return request.withPrompt(
        new TurnPrompt.Conversation(kept, conversation.tools(), conversation.extra()));
  }

  private Future<Boolean> fits(TurnRequest request) {
    return turns
        .measure(request)
        .map(
            size -> {
              int answer = size.contextMax() / ANSWER_PARTS;
              return size.tokens() + Math.min(answer, request.outputMax().orElse(answer))
                  <= size.contextMax();
            });
  }
}
