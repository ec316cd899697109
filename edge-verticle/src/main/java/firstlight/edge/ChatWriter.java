package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes chat.completion and chat.completion.chunk objects. */
final class ChatWriter implements CompletionWriter {
  private final CompletionRequest request;
  private final long createdSeconds;
  private final TokenText texts;
  private final List<ChatAnswer> answers = new ArrayList<>();
  private final List<ReasoningTokens> thoughts = new ArrayList<>();

  ChatWriter(CompletionRequest request, long createdSeconds, TokenText texts) {
    this.request = request;
    this.createdSeconds = createdSeconds;
    this.texts = texts;
  }

  @Override
  public void started(TurnEvent.Started started) {
    for (int i = 0; i < request.turn().answers(); i++) {
      int choice = i;
      answers.add(
          new ChatAnswer(
              started.parsers().get(),
              call -> CallIds.chat(request.turn().response(), choice, call)));
      thoughts.add(new ReasoningTokens(started.parsers().get()));
    }
  }

  @Override
  public void count(TurnEvent.Delta delta) {
    thoughts.get(delta.choice()).add(delta.tokens());
  }

  private int reasoningTokens() {
    return thoughts.stream().mapToInt(ReasoningTokens::count).sum();
  }

  @Override
  public Optional<ObjectNode> opening(int choice, int[] prompt) {
    ObjectNode delta = Json.object().put("role", "assistant").put("content", "");
    ObjectNode chunk = chunk(choice, delta, null);
    if (request.tokenIdsWanted() && choice == 0) {
      chunk.set("prompt_token_ids", ids(prompt));
    }
    return Optional.of(chunk);
  }

  @Override
  public List<ObjectNode> delta(TurnEvent.Delta delta) {
    List<ObjectNode> deltas = answers.get(delta.choice()).deltas(delta.text());
    boolean tokens =
        !delta.tokens().isEmpty() && (request.logprobsWanted() || request.tokenIdsWanted());
    if (deltas.isEmpty() && tokens) {
      deltas = List.of(Json.object().put("content", ""));
    }
    List<ObjectNode> chunks = chunks(delta.choice(), deltas);
    if (tokens) {
      addTokens((ObjectNode) chunks.getFirst().get("choices").get(0), delta.tokens());
    }
    return chunks;
  }

  @Override
  public List<ObjectNode> ending(TurnEvent.ChoiceFinished finished) {
    ChatAnswer answer = answers.get(finished.choice());
    List<ObjectNode> chunks = chunks(finished.choice(), answer.lastDeltas());
    chunks.add(chunk(finished.choice(), Json.object(), answer.reason(finished.reason())));
    return chunks;
  }

  private List<ObjectNode> chunks(int choice, List<ObjectNode> deltas) {
    return new ArrayList<>(deltas.stream().map(delta -> chunk(choice, delta, null)).toList());
  }

  private void addTokens(ObjectNode choice, List<TurnToken> tokens) {
    if (request.logprobsWanted()) {
      choice.set("logprobs", logprobs(tokens));
    }
    if (request.tokenIdsWanted()) {
      choice.set("token_ids", ids(tokens));
    }
  }

  @Override
  public ObjectNode usageChunk(Usage usage) {
    ObjectNode chunk = head("chat.completion.chunk");
    chunk.putArray("choices");
    chunk.set("usage", CompletionWriter.usage(usage, reasoningTokens()));
    return chunk;
  }

  @Override
  public ObjectNode whole(List<WholeAnswer> answers, List<int[]> prompts, Usage usage) {
    ObjectNode whole = head("chat.completion");
    ArrayNode choices = whole.putArray("choices");
    for (WholeAnswer answer : answers) {
      ObjectNode choice = choices.addObject().put("index", choices.size() - 1);
      ChatAnswer parts = this.answers.get(choices.size() - 1);
      choice.set("message", parts.message(answer.text()));
      choice.set("logprobs", request.logprobsWanted() ? logprobs(answer.tokens()) : null);
      choice.put("finish_reason", parts.reason(answer.reason()));
      if (request.tokenIdsWanted()) {
        choice.set("token_ids", ids(answer.tokens()));
      }
    }
    if (request.tokenIdsWanted()) {
      whole.set("prompt_token_ids", ids(prompts.getFirst()));
    }
    whole.set("usage", CompletionWriter.usage(usage, reasoningTokens()));
    return whole;
  }

  private ObjectNode chunk(int choice, ObjectNode delta, @Nullable String reason) {
    ObjectNode chunk = head("chat.completion.chunk");
    ObjectNode one = chunk.putArray("choices").addObject().put("index", choice);
    one.set("delta", delta);
    one.putNull("logprobs");
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
