package firstlight.batcher;

import firstlight.batcher.PromptLookup.Match;

/**
 * Guesses the next tokens of one Sequence, as long as its guesses turn out right often enough.
 *
 * <p>How likely a guess is right is learned for each length of the run it follows, the newest
 * outcomes counting most. When guessing does not pay, a single token is tried now and then, the
 * more rarely the longer it goes wrong: text may begin to repeat itself later on.
 */
final class Drafting {
  private static final int RUNS = PromptLookup.LONGEST - PromptLookup.SHORTEST + 1;
  private static final int[] NOTHING = {};

  /** Before anything was tried: what is usual, and after how many tries it counts half. */
  private static final double[] USUAL = {0.4, 0.6, 0.75};

  private static final double USUAL_WEIGHT = 2;
  private static final double MEMORY = 0.9;
  private static final int WAIT_MIN = 8;
  private static final int WAIT_MAX = 256;

  private final PromptLookup lookup = new PromptLookup();
  private final double[] tried = new double[RUNS];
  private final double[] right = new double[RUNS];
  private Match match = Match.NONE;
  private int wait = WAIT_MIN;
  private int passed;

  /** Decides whether one token more is worth its cost. */
  @FunctionalInterface
  interface Price {
    /**
     * @param chance that the token is right, from 0 to 1
     */
    boolean pays(double chance);
  }

  /**
   * Tokens to try after the Sequence's last one; none where nothing is known or nothing is gained.
   *
   * @param most how many are allowed
   * @param price asked for each token in turn; what it agreed to is tried
   */
  int[] draft(int[] tokens, int length, int most, Price price) {
    match = lookup.find(tokens, length);
    if (match.run() == 0 || most == 0) {
      return NOTHING;
    }
    int count = 0;
    double each = chance(match.run() - PromptLookup.SHORTEST);
    for (double chance = each; count < most && price.pays(chance); chance *= each) {
      count++;
    }
    if (count == 0 && ++passed >= wait && price.pays(1)) {
      passed = 0;
      count = 1;
    }
    return match.following(tokens, length, count);
  }

  private double chance(int run) {
    return (right[run] + USUAL_WEIGHT * USUAL[run]) / (tried[run] + USUAL_WEIGHT);
  }

  /**
   * What became of the last draft.
   *
   * @param accepted how many of its tokens were right before the first wrong one
   */
  void note(int drafted, int accepted) {
    if (drafted == 0) {
      return;
    }
    int run = match.run() - PromptLookup.SHORTEST;
    right[run] = right[run] * MEMORY + accepted;
    tried[run] = tried[run] * MEMORY + Math.min(drafted, accepted + 1);
    wait = accepted > 0 ? WAIT_MIN : Math.min(2 * wait, WAIT_MAX);
  }
}
