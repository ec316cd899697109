package firstlight.gpu;

import java.util.Arrays;

/**
 * The best tokens of a row of logits, best first; equal ones in the order of their ids. One
 * thread's own, since it keeps room for them.
 *
 * <p>A token is a long that sorts like it: the logit's bits above, the id, turned around, below.
 */
final class Candidates {
  private long[] best = new long[64];
  private int size;

  /** Finds the best {@code count}, or all where there are fewer. */
  void find(float[] logits, int at, int vocabulary, int count) {
    size = Math.min(count, vocabulary);
    if (best.length < size) {
      best = new long[size];
    }
    for (int id = 0; id < size; id++) {
      best[id] = key(logits[at + id], id);
    }
    if (size < vocabulary) {
      keepBest(logits, at, vocabulary);
    }
    Arrays.sort(best, 0, size);
  }

  int size() {
    return size;
  }

  int id(int rank) {
    return Integer.MAX_VALUE - (int) best[size - 1 - rank];
  }

  /** A heap with the worst of the best on top. */
  private void keepBest(float[] logits, int at, int vocabulary) {
    for (int i = size / 2 - 1; i >= 0; i--) {
      sink(i);
    }
    float worst = logit(best[0]);
    for (int id = size; id < vocabulary; id++) {
      float logit = logits[at + id];
      // An equal one with a higher id would not get in either.
      if (logit > worst) {
        best[0] = key(logit, id);
        sink(0);
        worst = logit(best[0]);
      }
    }
  }

  private void sink(int start) {
    int i = start;
    long moved = best[i];
    while (2 * i + 1 < size) {
      int child = 2 * i + 1;
      if (child + 1 < size && best[child + 1] < best[child]) {
        child++;
      }
      if (moved <= best[child]) {
        break;
      }
      best[i] = best[child];
      i = child;
    }
    best[i] = moved;
  }

  private static long key(float logit, int id) {
    // Adding 0 makes a negative zero positive, so that both are equal here too.
    return (long) sortable(Float.floatToIntBits(logit + 0f)) << 32 | Integer.MAX_VALUE - id;
  }

  private static float logit(long key) {
    return Float.intBitsToFloat(sortable((int) (key >> 32)));
  }

  /** Turns the bits of negative floats around, and back. */
  private static int sortable(int bits) {
    return bits ^ bits >> 31 & Integer.MAX_VALUE;
  }
}
