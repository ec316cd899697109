package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.Utf8Stream;
import firstlight.protocol.Usage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes text_completion objects, whole or as chunks of a stream. */
final class CompletionsWriter implements CompletionWriter {
  private final CompletionRequest request;
  private final long createdSeconds;
  private final TokenText texts;
  private final Map<Integer, Offsets> offsets = new HashMap<>();

  /** Where the next token of an answer begins in its text, in characters. */
  private static final class Offsets {
    private final Utf8Stream characters = new Utf8Stream();
    private int next;
  }

  CompletionsWriter(CompletionRequest request, long createdSeconds, TokenText texts) {
    this.request = request;
    this.createdSeconds = createdSeconds;
    this.texts = texts;
  }

  @Override
  public void started(TurnEvent.Started started) {
    // The text of a raw answer is told as it is.
  }

  @Override
  public Optional<ObjectNode> opening(int choice, int[] prompt) {
    if (!request.tokenIdsWanted() && !request.echo()) {
      return Optional.empty();
    }
    ObjectNode chunk = chunk(choice, echoed(choice), List.of(), null);
    if (request.tokenIdsWanted()) {
      ((ObjectNode) chunk.get("choices").get(0)).set("prompt_token_ids", ChatWriter.ids(prompt));
    }
    return Optional.of(chunk);
  }

  private String echoed(int choice) {
    if (!request.echo()) {
      return "";
    }
    return switch (request.turn().prompts().get(choice / request.turn().choices())) {
      case TurnPrompt.Text(String text) -> text;
      case TurnPrompt.Tokens(int[] ids) -> texts.joined(ids);
      case TurnPrompt.Conversation _ -> "";
    };
  }

  @Override
  public List<ObjectNode> delta(TurnEvent.Delta delta) {
    boolean tokens =
        !delta.tokens().isEmpty() && (request.logprobsWanted() || request.tokenIdsWanted());
    return delta.text().isEmpty() && !tokens
        ? List.of()
        : List.of(chunk(delta.choice(), delta.text(), delta.tokens(), null));
  }

  @Override
  public List<ObjectNode> ending(TurnEvent.ChoiceFinished finished) {
    String reason = CompletionWriter.reason(finished.reason());
    return List.of(chunk(finished.choice(), "", List.of(), reason));
  }

  @Override
  public ObjectNode usageChunk(Usage usage) {
    ObjectNode chunk = head();
    chunk.putArray("choices");
    chunk.set("usage", CompletionWriter.usage(usage, 0));
    return chunk;
  }

  @Override
  public ObjectNode whole(List<WholeAnswer> answers, List<int[]> prompts, Usage usage) {
    ObjectNode whole = head();
    ArrayNode choices = whole.putArray("choices");
    for (WholeAnswer answer : answers) {
      int index = choices.size();
      String reason = CompletionWriter.reason(answer.reason());
      ObjectNode choice = choice(index, echoed(index) + answer.text(), answer.tokens(), reason);
      if (request.tokenIdsWanted()) {
        int[] prompt = prompts.get(index / request.turn().choices());
        choice.set("prompt_token_ids", ChatWriter.ids(prompt));
      }
      choices.add(choice);
    }
    whole.set("usage", CompletionWriter.usage(usage, 0));
    return whole;
  }

  private ObjectNode chunk(
      int index, String text, List<TurnToken> tokens, @Nullable String reason) {
    ObjectNode chunk = head();
    chunk.putArray("choices").add(choice(index, text, tokens, reason));
    if (request.usageWanted()) {
      chunk.putNull("usage");
    }
    return chunk;
  }

  private ObjectNode choice(
      int index, String text, List<TurnToken> tokens, @Nullable String reason) {
    ObjectNode choice = Json.object().put("index", index).put("text", text);
    boolean logprobs = request.logprobsWanted() && !tokens.isEmpty();
    choice.set("logprobs", logprobs ? logprobs(index, tokens) : null);
    choice.put("finish_reason", reason);
    if (request.tokenIdsWanted()) {
      choice.set("token_ids", ChatWriter.ids(tokens));
    }
    return choice;
  }

  private ObjectNode head() {
    return Json.object()
        .put("id", request.turn().response().value())
        .put("object", "text_completion")
        .put("created", createdSeconds)
        .put("model", request.turn().model());
  }

  private ObjectNode logprobs(int index, List<TurnToken> tokens) {
    Offsets offset = offsets.computeIfAbsent(index, _ -> new Offsets());
    ObjectNode logprobs = Json.object();
    ArrayNode names = logprobs.putArray("tokens");
    ArrayNode values = logprobs.putArray("token_logprobs");
    ArrayNode tops = logprobs.putArray("top_logprobs");
    ArrayNode starts = logprobs.putArray("text_offset");
    for (TurnToken token : tokens) {
      String name = texts.of(token.id(), token.bytes());
      names.add(name);
      values.add(TokenText.finite(token.logprob()));
      ObjectNode top = tops.addObject();
      for (TurnToken.Alternative other : token.top()) {
        top.put(texts.of(other.id(), other.bytes()), TokenText.finite(other.logprob()));
      }
      top.put(name, TokenText.finite(token.logprob()));
      starts.add(offset.next);
      offset.next += offset.characters.feed(token.bytes()).length();
    }
    return logprobs;
  }
}
