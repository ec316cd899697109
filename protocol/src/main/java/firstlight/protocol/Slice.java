package firstlight.protocol;

/**
 * One Sequence's tokens in one Step: many while its prompt is prefilled, one while it decodes. The
 * arrays belong to the message: nobody changes them.
 *
 * @param tokens ids, in order
 * @param start position of the first of them in the Sequence, from 0
 * @param blocks the Sequence's block table, long enough for position {@code start + tokens.length -
 *     1}
 * @param sampled how many of the last positions are sampled: 0 inside a prompt, 1 usually
 * @param sampling how to sample; of no meaning when {@code sampled} is 0
 * @param promptLength how many of the Sequence's tokens are its prompt: what follows them was
 *     generated, which makes a difference to penalties
 * @param history all tokens before {@code tokens[0]}, for penalties; empty when there are none
 */
public record Slice(
    GenerationId generation,
    int[] tokens,
    int start,
    int[] blocks,
    int sampled,
    Sampling sampling,
    int promptLength,
    int[] history) {
  public Slice {
    if (tokens.length == 0
        || start < 0
        || sampled < 0
        || sampled > tokens.length
        || promptLength < 0) {
      throw new IllegalArgumentException("a Slice has tokens, a position and samples of its own");
    }
  }

  /** Positions of the Sequence that are in KV memory after the Step. */
  public int end() {
    return start + tokens.length;
  }
}
