package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.Usage;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes chat.completion and chat.completion.chunk objects. */
final class ChatWriter implements CompletionWriter {
  private final CompletionRequest request;
  private final long createdSeconds;
  private final TokenText texts;

  ChatWriter(CompletionRequest request, long createdSeconds, TokenText texts) {
    this.request = request;
    this.createdSeconds = createdSeconds;
    this.texts = texts;
  }

  @Override
  public Optional<ObjectNode> opening(int choice, int[] prompt) {
    ObjectNode delta = Json.object().put("role", "assistant").put("content", "");
    ObjectNode chunk = chunk(choice, delta, null, null);
    if (request.tokenIdsWanted() && choice == 0) {
      chunk.set("prompt_token_ids", ids(prompt));
    }
    return Optional.of(chunk);
  }

  @Override
  public Optional<ObjectNode> delta(TurnEvent.Delta delta) {
    boolean tokens = !delta.tokens().isEmpty();
    boolean logprobs = tokens && request.logprobsWanted();
    boolean ids = tokens && request.tokenIdsWanted();
    if (delta.text().isEmpty() && !logprobs && !ids) {
      return Optional.empty();
    }
    ObjectNode content = Json.object().put("content", delta.text());
    ObjectNode chunk =
        chunk(delta.choice(), content, logprobs ? logprobs(delta.tokens()) : null, null);
    if (ids) {
      ((ObjectNode) chunk.get("choices").get(0)).set("token_ids", ids(delta.tokens()));
    }
    return Optional.of(chunk);
  }

  @Override
  public ObjectNode ending(TurnEvent.ChoiceFinished finished) {
    return chunk(
        finished.choice(), Json.object(), null, CompletionWriter.reason(finished.reason()));
  }

  @Override
  public ObjectNode usageChunk(Usage usage) {
    ObjectNode chunk = head("chat.completion.chunk");
    chunk.putArray("choices");
    chunk.set("usage", CompletionWriter.usage(usage));
    return chunk;
  }

  @Override
  public ObjectNode whole(List<WholeAnswer> answers, List<int[]> prompts, Usage usage) {
    ObjectNode whole = head("chat.completion");
    ArrayNode choices = whole.putArray("choices");
    for (WholeAnswer answer : answers) {
      ObjectNode choice = choices.addObject().put("index", choices.size() - 1);
      choice
          .putObject("message")
          .put("role", "assistant")
          .put("content", answer.text())
          .putNull("refusal");
      choice.set("logprobs", request.logprobsWanted() ? logprobs(answer.tokens()) : null);
      choice.put("finish_reason", CompletionWriter.reason(answer.reason()));
      if (request.tokenIdsWanted()) {
        choice.set("token_ids", ids(answer.tokens()));
      }
    }
    if (request.tokenIdsWanted()) {
      whole.set("prompt_token_ids", ids(prompts.getFirst()));
    }
    whole.set("usage", CompletionWriter.usage(usage));
    return whole;
  }

  private ObjectNode chunk(
      int choice, ObjectNode delta, @Nullable ObjectNode logprobs, @Nullable String reason) {
    ObjectNode chunk = head("chat.completion.chunk");
    ObjectNode one = chunk.putArray("choices").addObject().put("index", choice);
    one.set("delta", delta);
    one.set("logprobs", logprobs);
    one.put("finish_reason", reason);
    if (request.usageWanted()) {
      chunk.putNull("usage");
    }
    return chunk;
  }

  private ObjectNode head(String object) {
    ObjectNode head =
        Json.object()
            .put("id", request.turn().response().value())
            .put("object", object)
            .put("created", createdSeconds)
            .put("model", request.turn().model());
    request.tier().ifPresent(tier -> head.put("service_tier", tier.served()));
    return head;
  }

  private ObjectNode logprobs(List<TurnToken> tokens) {
    ObjectNode logprobs = Json.object();
    ArrayNode content = logprobs.putArray("content");
    for (TurnToken token : tokens) {
      ObjectNode entry = entry(token.id(), token.bytes(), token.logprob());
      ArrayNode top = entry.putArray("top_logprobs");
      token.top().forEach(other -> top.add(entry(other.id(), other.bytes(), other.logprob())));
      content.add(entry);
    }
    return logprobs.putNull("refusal");
  }

  private ObjectNode entry(int id, byte[] bytes, float logprob) {
    ObjectNode entry =
        Json.object().put("token", texts.of(id, bytes)).put("logprob", TokenText.finite(logprob));
    entry.set("bytes", TokenText.bytes(bytes));
    return entry;
  }

  static ArrayNode ids(List<TurnToken> tokens) {
    ArrayNode ids = Json.array();
    tokens.forEach(token -> ids.add(token.id()));
    return ids;
  }

  static ArrayNode ids(int[] tokens) {
    ArrayNode ids = Json.array();
    for (int token : tokens) {
      ids.add(token);
    }
    return ids;
  }
}
