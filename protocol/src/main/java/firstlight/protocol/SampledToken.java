package firstlight.protocol;

/**
 * A token the device chose.
 *
 * @param logprob natural logarithm of its probability under the raw logits; 0 when not asked for
 * @param topIds the most probable ids, best first; empty when not asked for
 * @param topLogprobs theirs
 */
public record SampledToken(int id, float logprob, int[] topIds, float[] topLogprobs) {}
