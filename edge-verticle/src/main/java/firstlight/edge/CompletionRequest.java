package firstlight.edge;

import firstlight.protocol.Sampling;
import java.util.List;
import java.util.Optional;

/**
 * A request of chat completions or completions.
 *
 * @param usageWanted whether a stream ends with a chunk for the usage
 * @param tokenIdsWanted whether token ids are told, as vLLM does
 * @param echo whether the text of the prompt stands before each answer
 * @param tier the tier that was asked for; empty: none was
 * @param ignored full paths of fields that had no effect
 */
record CompletionRequest(
    TurnRequest turn,
    boolean usageWanted,
    boolean tokenIdsWanted,
    boolean echo,
    Optional<ServiceTier> tier,
    List<String> ignored) {
  static final int TOP_LOGPROBS_MAX = Sampling.TOP_LOGPROBS_MAX;

  CompletionRequest {
    ignored = List.copyOf(ignored);
  }

  boolean logprobsWanted() {
    return turn.sampling().topLogprobs() >= 0;
  }

  /** Reads stream_options, which needs a stream. */
  static boolean usageWanted(Fields fields, boolean streamed) {
    return fields
        .object("stream_options")
        .map(
            options -> {
              fields.require(streamed, "stream_options", "needs stream to be true");
              options.has("include_obfuscation");
              return options.flag("include_usage", false);
            })
        .orElse(false);
  }
}
