package firstlight.gpu;

import java.util.Arrays;

/** Words of 32 bits, one after another. */
final class WordList {
  private int[] words = new int[1024];
  private int size;

  void clear() {
    size = 0;
  }

  void add(int word) {
    if (size == words.length) {
      words = Arrays.copyOf(words, Math.multiplyExact(2, size));
    }
    words[size++] = word;
  }

  void addAll(int[] from, int count) {
    for (int i = 0; i < count; i++) {
      add(from[i]);
    }
  }

  int size() {
    return size;
  }

  /** The words: as many as {@link #size} are of meaning. */
  int[] words() {
    return words;
  }
}
