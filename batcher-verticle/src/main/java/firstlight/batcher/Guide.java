package firstlight.batcher;

import firstlight.model.Constraint;
import firstlight.model.InvalidGrammar;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one generation to its constraint: which tokens may come next, and when nothing may. A
 * function of the tokens so far, like everything that decides a token.
 */
final class Guide {
  private final Constraint constraint;
  private final int[] endTokens;
  private final List<long[]> masks = new ArrayList<>();
  private Constraint.State state;

  /**
   * @param endTokens ids that end the generation, allowed where its text may end
   */
  Guide(Constraint constraint, int[] endTokens) {
    this.constraint = constraint;
    this.endTokens = endTokens;
    this.state = constraint.start();
  }

  /**
   * The generation's next token; one that ends it changes nothing.
   *
   * @throws MeshException the token is not allowed, or the constraint leaves too much open to be
   *     followed
   */
  void next(int token) {
    for (int end : endTokens) {
      if (token == end) {
        return;
      }
    }
    state = after(state, token);
    if (state.isBroken()) {
      throw failure("A known token is not what the constraint allows.");
    }
  }

  /** Nothing may follow. */
  boolean over() {
    return state.isOver();
  }

  /**
   * Finds out which tokens may come now, after the last {@link #next}.
   *
   * @throws MeshException no token at all fits, or the constraint leaves too much open
   */
  void settle() {
    masks.clear();
    if (!over()) {
      masks.add(mask(state));
    }
  }

  /** How many of the guesses may be tried; {@link #masks} then has the tokens after each. */
  int draft(int[] guesses) {
    Constraint.State at = state;
    for (int i = 0; i < guesses.length; i++) {
      try {
        at = after(at, guesses[i]);
        if (at.isBroken() || at.isOver()) {
          return i;
        }
        masks.add(mask(at));
      } catch (MeshException _) {
        // It will be said when the text really comes there.
        return i;
      }
    }
    return guesses.length;
  }

  /** The tokens that may be chosen now, and after each of the guesses of {@link #draft}. */
  long[][] masks() {
    return masks.toArray(long[][]::new);
  }

  private Constraint.State after(Constraint.State at, int token) {
    try {
      return constraint.next(at, token);
    } catch (InvalidGrammar e) {
      throw failure(e.getMessage());
    }
  }

  private long[] mask(Constraint.State at) {
    long[] mask;
    try {
      mask = constraint.mask(at);
    } catch (InvalidGrammar e) {
      throw failure(e.getMessage());
    }
    mask = withEnds(mask, at.isComplete());
    for (long word : mask) {
      if (word != 0) {
        return mask;
      }
    }
    throw failure("No token of the model fits the constraint here.");
  }

  /** The tokens that end are allowed where the text may end, and nowhere else. */
  private long[] withEnds(long[] mask, boolean allowed) {
    long[] changed = mask;
    for (int token : endTokens) {
      if ((mask[token >> 6] >>> token & 1) == 1 != allowed) {
        changed = changed == mask ? mask.clone() : changed;
        changed[token >> 6] ^= 1L << token;
      }
    }
    return changed;
  }

  private static MeshException failure(@Nullable String reason) {
    return new MeshException(
        FailureKind.INVALID_REQUEST,
        "constraint_not_followed",
        "The answer could not be kept to its form: " + reason,
        null,
        0);
  }
}
