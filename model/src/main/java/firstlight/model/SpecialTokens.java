package firstlight.model;

import java.util.OptionalInt;

/**
 * The tokens with a part to play.
 *
 * @param addBos whether a raw prompt begins with {@code bos}
 * @param addEos whether a raw prompt ends with {@code eos}
 * @param ends the ids that end an answer, ascending
 */
record SpecialTokens(
    OptionalInt bos, OptionalInt eos, boolean addBos, boolean addEos, int[] ends) {}
