package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerParser;
import firstlight.model.AnswerPart;
import firstlight.model.Utf8Stream;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.Usage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the events of one Response out of its tokens.
 *
 * <p><b>The rule of numbering.</b> {@code sequence_number} is a function of the token list alone:
 *
 * <ol>
 *   <li>0 is response.created, 1 response.in_progress. Both come when the turn has started.
 *   <li>Then the characters that each token completes go to the answer's parser, in one piece for
 *       each token; a token that completes none (a part of a character, a control token) does not.
 *       Each part that the parser gives back is one delta of the Item of its kind, and a call is a
 *       new Item. Where there is no Item of that kind, the one before ends (its done events) and a
 *       new one begins (output_item.added, and content_part.added except for a call), right before
 *       the delta.
 *   <li>When the tokens end inside a character, its replacement, U+FFFD, goes to the parser, and
 *       then what the parser held back makes deltas by the same rule. The last Item ends; an answer
 *       without any is a message without text.
 *   <li>Then the one last event. A failure has {@code error} and response.failed instead of all
 *       that was to come, at whatever number is next.
 * </ol>
 *
 * <p>So neither time nor the way in which tokens are grouped in frames plays a part, and any edge
 * can make the events again from any number on. This needs the tokens' own bytes, which add up to
 * the text since this dialect has no stop strings.
 *
 * <p>Log-probabilities go with the next delta of a message. Those of tokens that gave something
 * else, or markers between Items, go nowhere.
 *
 * <p>The parts of the life of a Response that must not be told too early (it is stored before its
 * last event goes out) are different calls: {@link #ended} and {@link #last}.
 */
final class ResponseStream {
  private static final String INCOMPLETE_LENGTH = "max_output_tokens";

  /** Stands for minus infinity, which JSON cannot say. */
  private static final float LOGPROB_MIN = -9999;

  private final ResponseResource resource;
  private final boolean logprobsWanted;
  private final ResponseEvents events = new ResponseEvents();
  private final Utf8Stream characters = new Utf8Stream();
  private final ArrayNode output = Json.array();
  private final List<String> cuts = new ArrayList<>();
  private AnswerParser parser = AnswerParser.plain();
  private ArrayNode logprobsHeld = Json.array();
  private int reasoningTokens;
  private @Nullable ResponseItem open;
  private boolean left;
  private @Nullable ObjectNode outcome;

  /**
   * @param logprobsWanted whether events and messages show log-probabilities
   */
  ResponseStream(ResponseResource resource, boolean logprobsWanted) {
    this.resource = resource;
    this.logprobsWanted = logprobsWanted;
  }

  /**
   * The turn has started.
   *
   * @param parser for its answer alone
   */
  List<ObjectNode> started(AnswerParser parser) {
    this.parser = parser;
    events.add("response.created", "response", resource.inProgress());
    events.add("response.in_progress", "response", resource.inProgress());
    return events.take();
  }

  /** The next tokens. */
  List<ObjectNode> tokens(List<TurnToken> tokens) {
    for (TurnToken token : tokens) {
      if (logprobsWanted && token.bytes().length > 0) {
        logprobsHeld.add(logprob(token));
      }
      addText(characters.feed(token.bytes()));
      if (open instanceof ResponseItem.Reasoning) {
        reasoningTokens++;
      }
    }
    return events.take();
  }

  /**
   * The answer has ended. Its last event is not among these.
   *
   * @param now Unix time, s
   */
  List<ObjectNode> ended(FinishReason reason, Usage usage, long now) {
    addText(characters.flush());
    parser.end().forEach(this::add);
    if (open == null) {
      begin(new ResponseItem.Message(nextPlace()));
    }
    boolean whole = reason != FinishReason.LENGTH;
    end(whole ? "completed" : "incomplete");
    outcome =
        resource.ended(
            output,
            new ResponseResource.Cost(usage, reasoningTokens),
            whole ? null : INCOMPLETE_LENGTH,
            now);
    return events.take();
  }

  /**
   * A Response that only prepares the next one: it ends without an Item.
   *
   * @param now Unix time, s
   */
  void endedWithoutAnswer(long now) {
    outcome = resource.ended(output, new ResponseResource.Cost(Usage.NONE, 0), null, now);
  }

  /**
   * Where the text of each of the Items that grow no more was cut into deltas: see {@link
   * ResponseCuts}.
   */
  List<String> cuts() {
    return cuts;
  }

  /** The Response as it is after its end. */
  ObjectNode outcome() {
    if (outcome == null) {
      throw new IllegalStateException("the Response has not ended");
    }
    return outcome;
  }

  /** The last event of a Response that has ended and, where it should be, is stored. */
  ObjectNode last() {
    String status = outcome().get("status").textValue();
    // The specification has no word for an end that somebody else wanted.
    String end = status.equals("cancelled") ? "incomplete" : status;
    events.add("response." + end, "response", outcome());
    return events.take().getFirst();
  }

  /** The turn has failed, perhaps in its last moment; nothing follows these. */
  List<ObjectNode> failed(MeshException failure) {
    leaveOpen();
    outcome = resource.failed(output, failure);
    ResponseErrors.fill(events.add("error"), failure);
    events.add("response.failed", "response", outcome);
    return events.take();
  }

  /** The Response as it is before its end. */
  ObjectNode state(boolean started) {
    return started ? resource.inProgress() : resource.queued();
  }

  /** Nobody wants the rest of the answer. */
  void cancelled() {
    leaveOpen();
    outcome = resource.cancelled(output);
  }

  /** The Response so far, for whoever makes its events again before it is stored. */
  ResponseSoFar soFar() {
    ObjectNode now = resource.inProgress();
    ArrayNode items = now.putArray("output").addAll(output);
    List<String> all = new ArrayList<>(cuts);
    if (open != null) {
      items.add(open.state("in_progress"));
      all.add(open.cuts());
    }
    return new ResponseSoFar(now, all, open != null || left);
  }

  private void leaveOpen() {
    if (open != null) {
      output.add(open.state("incomplete"));
      cuts.add(open.cuts());
      left = true;
      open = null;
    }
  }

  private void addText(String text) {
    if (text.isEmpty()) {
      return;
    }
    List<AnswerPart> parts = parser.next(text);
    parts.forEach(this::add);
    if (!parts.isEmpty() && !(open instanceof ResponseItem.Message)) {
      logprobsHeld = Json.array();
    }
  }

  private void add(AnswerPart part) {
    switch (part) {
      case AnswerPart.Text(String text) -> {
        ResponseItem.Message message = message(text);
        message.add(new ResponseCuts.Piece(text, logprobsHeld));
        logprobsHeld = Json.array();
      }
      case AnswerPart.Reasoning(String text) -> {
        ResponseItem.Reasoning reasoning =
            open instanceof ResponseItem.Reasoning now
                ? now
                : begin(new ResponseItem.Reasoning(nextPlace()));
        reasoning.add(text);
      }
      case AnswerPart.Call(String name) -> begin(new ResponseItem.Call(nextPlace(), name));
      case AnswerPart.Arguments(String json) -> {
        if (!(open instanceof ResponseItem.Call call)) {
          throw new IllegalStateException("arguments are those of a call");
        }
        call.add(json);
      }
    }
  }

  /** The message that the text belongs to; a new one has nothing of the tokens before its text. */
  private ResponseItem.Message message(String text) {
    if (open instanceof ResponseItem.Message now) {
      return now;
    }
    holdOnly(text.getBytes(StandardCharsets.UTF_8).length);
    return begin(new ResponseItem.Message(nextPlace()));
  }

  /** Forgets the log-probabilities of the tokens before those that the last bytes need. */
  private void holdOnly(int bytes) {
    int needed = 0;
    int first = logprobsHeld.size();
    while (first > 0 && needed < bytes) {
      needed += logprobsHeld.get(--first).get("bytes").size();
    }
    for (int i = 0; i < first; i++) {
      logprobsHeld.remove(0);
    }
  }

  private ResponseItem.Place nextPlace() {
    end("completed");
    return new ResponseItem.Place(events, resource.id(), output.size());
  }

  private <T extends ResponseItem> T begin(T item) {
    open = item;
    item.begin();
    return item;
  }

  private void end(String status) {
    if (open != null) {
      output.add(open.end(status));
      cuts.add(open.cuts());
      open = null;
    }
  }

  private static ObjectNode with(ObjectNode object, String name, JsonNode value) {
    object.set(name, value);
    return object;
  }

  private static ObjectNode logprob(TurnToken token) {
    ArrayNode top = Json.array();
    for (TurnToken.Alternative other : token.top()) {
      top.add(logprob(other.bytes(), other.logprob()));
    }
    return with(logprob(token.bytes(), token.logprob()), "top_logprobs", top);
  }

  private static ObjectNode logprob(byte[] bytes, float logprob) {
    ArrayNode numbers = Json.array();
    for (byte value : bytes) {
      numbers.add(Byte.toUnsignedInt(value));
    }
    ObjectNode entry =
        Json.object()
            .put("token", TokenText.of(bytes))
            .put("logprob", Math.max(logprob, LOGPROB_MIN));
    return with(entry, "bytes", numbers);
  }
}
