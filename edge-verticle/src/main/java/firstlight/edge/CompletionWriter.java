package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FinishReason;
import firstlight.protocol.Usage;
import java.util.List;
import java.util.Optional;

/** Puts the events of a turn into the words of a dialect; one for each request. */
interface CompletionWriter {
  /** The first event of the turn. */
  void started(TurnEvent.Started started);

  /** What stands before the first Delta of an answer, where the dialect has something there. */
  Optional<ObjectNode> opening(int choice, int[] prompt);

  /** More tokens, whether the client gets the answer in pieces or as a whole. */
  default void count(TurnEvent.Delta delta) {}

  /** Chunks; none when there is nothing to tell yet. */
  List<ObjectNode> delta(TurnEvent.Delta delta);

  /** What was held back of an answer, and its end. */
  List<ObjectNode> ending(TurnEvent.ChoiceFinished finished);

  /** The chunk without choices that ends a stream when asked for. */
  ObjectNode usageChunk(Usage usage);

  /**
   * The answer in one piece.
   *
   * @param prompts token ids
   */
  ObjectNode whole(List<WholeAnswer> answers, List<int[]> prompts, Usage usage);

  /** OpenAI's word for it. */
  static String reason(FinishReason reason) {
    return reason == FinishReason.LENGTH ? "length" : "stop";
  }

  /**
   * OpenAI's usage object.
   *
   * @param reasoning tokens of the output
   */
  static ObjectNode usage(Usage usage, int reasoning) {
    ObjectNode json =
        Json.object()
            .put("prompt_tokens", usage.prompt())
            .put("completion_tokens", usage.output())
            .put("total_tokens", usage.total());
    json.putObject("prompt_tokens_details").put("cached_tokens", usage.cached());
    json.putObject("completion_tokens_details").put("reasoning_tokens", reasoning);
    return json;
  }
}
