package firstlight.batcher;

import firstlight.protocol.SampledToken;
import firstlight.protocol.Slice;
import firstlight.protocol.StepResult;
import java.util.Arrays;
import java.util.List;

/**
 * Speculative decoding by prompt lookup. What is left of a Step when everybody has got his tokens
 * is used to try several tokens of a Sequence at once: tokens that followed the same words before.
 * The device samples each position as if the tokens before it were right; what it sampled is kept
 * up to the first that was guessed wrongly, so the output is the same with and without, bit for
 * bit. Keys and values of wrong guesses are overwritten later.
 *
 * <p>A guess is worth it when it promises more tokens for its cost than the Step does without it.
 * On a device that is limited by reading its weights, that is so while few Sequences run.
 */
final class Speculation {
  private final int tokensMax;
  private final KvMemory kv;
  private final Counts counts;
  private final DecodeCost cost = new DecodeCost();

  /**
   * @param tokensMax most guesses of one Sequence in a Step; 0 turns it off
   */
  Speculation(int tokensMax, KvMemory kv, Counts counts) {
    this.tokensMax = tokensMax;
    this.kv = kv;
    this.counts = counts;
  }

  /**
   * Adds guesses to the Sequences of the Step that decode, the first ones first.
   *
   * @param spare Blocks that must be left over for others
   */
  void plan(StepDraft draft, int spare) {
    Gain gain = new Gain(draft.tokens());
    for (int i = 0; i < draft.size() && tokensMax > 0; i++) {
      Sequence sequence = draft.sequence(i);
      int most = Math.min(Math.min(tokensMax, draft.left()), sequence.draftMax());
      if (draft.tokens(i) == 1 && sequence.missing() == 1) {
        int room = kv.room(sequence, spare);
        int[] guesses =
            sequence
                .drafting()
                .draft(sequence.tokens(), sequence.length(), Math.min(most, room), gain::takes);
        guesses = allowed(sequence, guesses);
        kv.makeRoom(sequence, guesses.length);
        draft.guess(i, guesses);
        counts.drafts += guesses.length > 0 ? 1 : 0;
        counts.draftTokens += guesses.length;
      }
    }
  }

  private static int[] allowed(Sequence sequence, int[] guesses) {
    Guide guide = sequence.guide();
    return guide == null ? guesses : Arrays.copyOf(guesses, guide.draft(guesses));
  }

  /** Tokens that the Step is expected to bring, and the time it takes, while guesses are added. */
  private final class Gain {
    private double tokens;
    private double nanos;

    Gain(int planned) {
      tokens = planned;
      nanos = cost.stepNanos(planned);
    }

    boolean takes(double chance) {
      double more = cost.tokenNanos();
      if (chance * nanos <= tokens * more) {
        return false;
      }
      tokens += chance;
      nanos += more;
      return true;
    }
  }

  /** How many of the Slice's guesses the device agreed with before the first that was wrong. */
  int accepted(Sequence sequence, int[] guesses, List<SampledToken> sampled) {
    int accepted = 0;
    while (accepted < guesses.length && guesses[accepted] == sampled.get(accepted).id()) {
      accepted++;
    }
    sequence.drafting().note(guesses.length, accepted);
    counts.acceptedTokens += accepted;
    return accepted;
  }

  /** Steps with prompts tell nothing about those without. */
  void note(StepDraft done, StepResult result) {
    List<Slice> slices = done.slices();
    if (slices.stream().allMatch(slice -> slice.sampled() == slice.tokens().length)) {
      cost.note(done.tokens(), result.nanos());
    }
  }
}
