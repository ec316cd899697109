package firstlight.protocol;

/**
 * How the next token is chosen from the logits. Applied in this order: repetition, presence and
 * frequency penalties, logit bias, temperature, top-k, top-p, min-p. Log-probabilities are of the
 * raw logits, whatever stands here.
 *
 * @param temperature 0 chooses the most probable token
 * @param topK 0: all
 * @param topP in (0, 1]
 * @param minP in [0, 1]
 * @param repetitionPenalty for tokens of the prompt and of the output; above 0; 1: none
 * @param presencePenalty for tokens of the output; 0: none
 * @param frequencyPenalty for each time that a token is in the output; 0: none
 * @param biasTokens ids whose logits are changed
 * @param biasValues by how much, in the same order
 * @param seed with the position it decides every draw
 * @param topLogprobs -1: no log-probabilities wanted; otherwise how many alternatives to report
 */
public record Sampling(
    float temperature,
    int topK,
    float topP,
    float minP,
    float repetitionPenalty,
    float presencePenalty,
    float frequencyPenalty,
    int[] biasTokens,
    float[] biasValues,
    long seed,
    int topLogprobs) {
  public static final int TOP_LOGPROBS_MAX = 20;

  /** The most probable token, no log-probabilities. */
  public static final Sampling GREEDY = greedy(-1);

  public Sampling {
    require(temperature >= 0 && temperature <= 2, "temperature must be between 0 and 2");
    require(topK >= 0, "top_k must not be negative");
    require(topP > 0 && topP <= 1, "top_p must be above 0 and at most 1");
    require(minP >= 0 && minP <= 1, "min_p must be between 0 and 1");
    require(
        repetitionPenalty > 0 && repetitionPenalty <= 10,
        "repetition_penalty must be above 0 and at most 10");
    require(Math.abs(presencePenalty) <= 2, "presence_penalty must be between -2 and 2");
    require(Math.abs(frequencyPenalty) <= 2, "frequency_penalty must be between -2 and 2");
    require(biasTokens.length == biasValues.length, "every biased token has a bias");
    require(
        topLogprobs >= -1 && topLogprobs <= TOP_LOGPROBS_MAX,
        "top_logprobs must be between 0 and " + TOP_LOGPROBS_MAX);
  }

  /** Greedy, with that many alternatives reported at each position. */
  public static Sampling greedy(int topLogprobs) {
    return new Sampling(0, 0, 1, 0, 1, 0, 0, new int[0], new float[0], 0, topLogprobs);
  }

  public boolean hasPenalties() {
    return repetitionPenalty != 1 || presencePenalty != 0 || frequencyPenalty != 0;
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }
}
