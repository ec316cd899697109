package firstlight.gpu;

import firstlight.protocol.Slice;

/** Which tokens penalties are for, and how often each is in the output so far. */
final class Penalties {
  /** 1 for a token that is there, and 1 more for each time in the output; 0 between calls. */
  private final int[] seen;

  Penalties(int vocabulary) {
    seen = new int[vocabulary];
  }

  /**
   * Adds the ids of the tokens before a position, each once, then their numbers.
   *
   * @param position in the Slice, or the one after it
   * @return how many ids there are
   */
  int list(Slice slice, int position, WordList into) {
    int own = position - slice.start();
    int first = into.size();
    for (int i = 0; i < slice.history().length; i++) {
      note(slice.history()[i], i < slice.promptLength(), into);
    }
    for (int i = 0; i < own; i++) {
      note(slice.tokens()[i], slice.history().length + i < slice.promptLength(), into);
    }
    int count = into.size() - first;
    for (int i = 0; i < count; i++) {
      int id = into.words()[first + i];
      into.add(seen[id] - 1);
      seen[id] = 0;
    }
    return count;
  }

  private void note(int id, boolean inPrompt, WordList into) {
    if (seen[id] == 0) {
      seen[id] = 1;
      into.add(id);
    }
    seen[id] += inPrompt ? 0 : 1;
  }
}
