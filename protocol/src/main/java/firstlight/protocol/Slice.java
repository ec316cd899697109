package firstlight.protocol;

import org.jspecify.annotations.Nullable;

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
 * @param allowed for each sampled position the tokens that may be chosen, a bit for each id in
 *     words of 64; empty: all
 */
public record Slice(
    GenerationId generation,
    int[] tokens,
    int start,
    int[] blocks,
    int sampled,
    Sampling sampling,
    int promptLength,
    int[] history,
    long[][] allowed) {
  private static final long[][] ALL = {};

  public Slice {
    if (tokens.length == 0
        || start < 0
        || sampled < 0
        || sampled > tokens.length
        || promptLength < 0
        || allowed.length > 0 && allowed.length != sampled) {
      throw new IllegalArgumentException("a Slice has tokens, a position and samples of its own");
    }
  }

  /** One whose positions may be any token. */
  public Slice(
      GenerationId generation,
      int[] tokens,
      int start,
      int[] blocks,
      int sampled,
      Sampling sampling,
      int promptLength,
      int[] history) {
    this(generation, tokens, start, blocks, sampled, sampling, promptLength, history, ALL);
  }

  /**
   * The tokens that may be chosen after a sampled position; null: all.
   *
   * @param position in the Sequence
   */
  public long @Nullable [] allowedAt(int position) {
    return allowed.length == 0 ? null : allowed[position - (end() - sampled)];
  }

  /** Positions of the Sequence that are in KV memory after the Step. */
  public int end() {
    return start + tokens.length;
  }
}
