package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
 *   <li>0 is response.created, 1 response.in_progress, 2 the message's output_item.added, 3 its
 *       content_part.added. 0 and 1 come when the turn has started, 2 and 3 with the first token,
 *       or with the end where there is none.
 *   <li>Then each token that completes at least one character gives exactly one output_text.delta,
 *       with all the characters it completes. A token that completes none (a part of a character, a
 *       control token) gives none; its log-probability goes with the next delta.
 *   <li>When the tokens end inside a character, one more delta has its replacement, U+FFFD.
 *   <li>Then output_text.done, content_part.done, output_item.done and the one last event. A
 *       failure has {@code error} and response.failed instead of all these, at whatever number is
 *       next.
 * </ol>
 *
 * <p>So neither time nor the way in which tokens are grouped in frames plays a part, and any edge
 * can make the events again from any number on. This needs the tokens' own bytes, which add up to
 * the text since this dialect has no stop strings.
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
  private final String itemId;
  private final Utf8Stream characters = new Utf8Stream();
  private final StringBuilder text = new StringBuilder();
  private final ArrayNode logprobs = Json.array();
  private ArrayNode logprobsHeld = Json.array();
  private ArrayNode output = Json.array();
  private long nextNumber;
  private boolean itemAdded;
  private @Nullable ObjectNode outcome;

  /**
   * @param logprobsWanted whether events and the message show log-probabilities
   */
  ResponseStream(ResponseResource resource, boolean logprobsWanted) {
    this.resource = resource;
    this.logprobsWanted = logprobsWanted;
    this.itemId = ResponseResource.itemId("msg_", resource.id(), "");
  }

  /** The turn has started. */
  List<ObjectNode> started() {
    return List.of(
        with(event("response.created"), "response", resource.inProgress()),
        with(event("response.in_progress"), "response", resource.inProgress()));
  }

  /** The next tokens. */
  List<ObjectNode> tokens(List<TurnToken> tokens) {
    List<ObjectNode> events = new ArrayList<>();
    for (TurnToken token : tokens) {
      addItem(events);
      if (logprobsWanted && token.bytes().length > 0) {
        logprobsHeld.add(logprob(token));
      }
      addDelta(events, characters.feed(token.bytes()));
    }
    return events;
  }

  /**
   * The answer has ended. Its last event is not among these.
   *
   * @param now Unix time, s
   */
  List<ObjectNode> ended(FinishReason reason, Usage usage, long now) {
    List<ObjectNode> events = new ArrayList<>();
    addItem(events);
    addDelta(events, characters.flush());
    boolean whole = reason != FinishReason.LENGTH;
    events.add(
        with(
            inPart("response.output_text.done").put("text", text.toString()),
            "logprobs",
            logprobs));
    events.add(with(inPart("response.content_part.done"), "part", part()));
    ObjectNode item = message(whole ? "completed" : "incomplete", Json.array().add(part()));
    events.add(with(event("response.output_item.done").put("output_index", 0), "item", item));
    output = Json.array().add(item);
    outcome = resource.ended(output, usage, whole ? null : INCOMPLETE_LENGTH, now);
    return events;
  }

  /**
   * A Response that only prepares the next one: it ends without an Item.
   *
   * @param now Unix time, s
   */
  void endedWithoutAnswer(long now) {
    outcome = resource.ended(output, Usage.NONE, null, now);
  }

  /** The Items of the answer; none before its end. */
  ArrayNode output() {
    return output;
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
    return with(event("response." + status), "response", outcome());
  }

  /** The turn has failed, perhaps in its last moment; nothing follows these. */
  List<ObjectNode> failed(MeshException failure) {
    if (itemAdded && output.isEmpty()) {
      output = Json.array().add(message("incomplete", Json.array().add(part())));
    }
    return List.of(
        with(
            event("error").put("status", Errors.status(failure)),
            "error",
            ResponseErrors.payload(failure)),
        with(event("response.failed"), "response", resource.failed(output, failure)));
  }

  private void addItem(List<ObjectNode> events) {
    if (itemAdded) {
      return;
    }
    itemAdded = true;
    ObjectNode item = message("in_progress", Json.array());
    events.add(with(event("response.output_item.added").put("output_index", 0), "item", item));
    events.add(with(inPart("response.content_part.added"), "part", part()));
  }

  private void addDelta(List<ObjectNode> events, String delta) {
    if (delta.isEmpty()) {
      return;
    }
    text.append(delta);
    events.add(
        with(inPart("response.output_text.delta").put("delta", delta), "logprobs", logprobsHeld));
    logprobs.addAll(logprobsHeld);
    logprobsHeld = Json.array();
  }

  private ObjectNode event(String type) {
    return Json.object().put("type", type).put("sequence_number", nextNumber++);
  }

  private ObjectNode inPart(String type) {
    return event(type).put("item_id", itemId).put("output_index", 0).put("content_index", 0);
  }

  private ObjectNode message(String status, ArrayNode content) {
    ObjectNode message =
        Json.object()
            .put("type", "message")
            .put("id", itemId)
            .put("status", status)
            .put("role", "assistant");
    return with(message, "content", content);
  }

  private ObjectNode part() {
    ObjectNode part = Json.object().put("type", "output_text").put("text", text.toString());
    part.putArray("annotations");
    part.putArray("logprobs").addAll(logprobs);
    return part;
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
            .put("token", new String(bytes, StandardCharsets.UTF_8))
            .put("logprob", Math.max(logprob, LOGPROB_MIN));
    return with(entry, "bytes", numbers);
  }
}
