package firstlight.batcher;

import java.util.Arrays;

/**
 * Where the last tokens of a Sequence stood before, so that what followed them then may be tried as
 * what follows now.
 *
 * <p>A table holds, for each run of two to four tokens, where it ended last. It is a cache: runs
 * that meet in a place forget the older one, and a hit is compared token by token. So each token
 * costs a few steps, however long the history is, and memory has a limit; a history that is longer
 * than the table has places for is remembered from its end.
 */
final class PromptLookup {
  static final int SHORTEST = 2;
  static final int LONGEST = 4;
  private static final int PLACES_MIN = 256;
  private static final int PLACES_MAX = 1 << 17;

  /** Where runs of tokens end; 0: nothing is known. */
  private int[] ends = new int[0];

  /** Runs that end up to here are in the table. */
  private int indexed;

  /**
   * Where the last tokens stood before.
   *
   * @param end the position after them; what followed stands there
   * @param run how many tokens agree: 0 where nothing was found
   */
  record Match(int end, int run) {
    static final Match NONE = new Match(0, 0);

    /** The tokens that followed; where they reach the end they go on with themselves. */
    int[] following(int[] tokens, int length, int count) {
      int[] following = new int[count];
      for (int i = 0; i < count; i++) {
        int at = end + i;
        following[i] = at < length ? tokens[at] : following[at - length];
      }
      return following;
    }
  }

  /**
   * The longest run, and of those as long the latest.
   *
   * @param tokens of which the first {@code length} count; the same as before, and more
   */
  Match find(int[] tokens, int length) {
    index(tokens, length);
    for (int run = Math.min(LONGEST, length - 1); run >= SHORTEST; run--) {
      int end = ends[place(tokens, length, run)];
      if (end >= run && Arrays.equals(tokens, end - run, end, tokens, length - run, length)) {
        return new Match(end, run);
      }
    }
    return Match.NONE;
  }

  /** All runs but those at the very end, which would find themselves. */
  private void index(int[] tokens, int length) {
    makeRoom(length);
    for (int end = indexed + 1; end < length; end++) {
      for (int run = SHORTEST; run <= Math.min(LONGEST, end); run++) {
        ends[place(tokens, end, run)] = end;
      }
      indexed = end;
    }
  }

  private void makeRoom(int length) {
    int runs = (LONGEST - SHORTEST + 1) * Math.min(length, PLACES_MAX);
    if (ends.length < Math.min(runs, PLACES_MAX)) {
      int places = Integer.highestOneBit(runs) * 4;
      ends = new int[Math.clamp(places, PLACES_MIN, PLACES_MAX)];
      indexed = Math.max(0, length - PLACES_MAX);
    }
  }

  private int place(int[] tokens, int end, int run) {
    int hash = run;
    for (int i = end - run; i < end; i++) {
      hash = (hash ^ tokens[i]) * 0x9E3779B1;
      hash ^= hash >>> 15;
    }
    return hash & ends.length - 1;
  }
}
