package firstlight.model;

/**
 * Joins neighbouring symbols of one piece of text, best pair first, until no rule applies: the
 * common heart of byte-pair encoding (best = learnt first) and SentencePiece (best = highest
 * score). Of equal pairs the leftmost is joined first. Takes n log n steps.
 *
 * <p>The symbols form a linked list inside arrays; {@code best[i]} is what the rule says about
 * symbol i and its neighbour now. The heap may hold older opinions: they no longer equal {@code
 * best[i]} and are passed over.
 */
final class Merger {
  /** What a rule answers where a pair is not to be joined. */
  static final long NONE = Long.MAX_VALUE;

  /** Says what becomes of two neighbours. */
  interface Rule {
    /**
     * @param from where the left symbol begins, as given to {@link Merger#add}
     * @param to where the right symbol ends
     * @return {@link #joined}, or {@link #NONE}
     */
    long join(int left, int right, int from, int to);
  }

  private final int[] symbols;
  private final int[] begins;
  private final int[] previous;
  private final int[] next;
  private final long[] best;
  private final Rule rule;
  private int size;

  /** Room for so many symbols. */
  Merger(int capacity, Rule rule) {
    symbols = new int[capacity];
    begins = new int[capacity + 1];
    previous = new int[capacity];
    next = new int[capacity];
    best = new long[capacity];
    this.rule = rule;
  }

  /**
   * A rule's answer: lower priorities go first.
   *
   * @param result the symbol that replaces both
   */
  static long joined(int priority, int result) {
    return ((long) priority << 32) | result;
  }

  /**
   * Appends a symbol that ends at {@code end}, in the caller's units; it begins where the last one
   * ends.
   */
  void add(int symbol, int end) {
    symbols[size++] = symbol;
    begins[size] = end;
  }

  /** Takes what is left when no rule applies. */
  interface Sink {
    void accept(int symbol, int from, int to);
  }

  void merge(Sink sink) {
    LongHeap heap = new LongHeap(size);
    for (int i = 0; i < size; i++) {
      previous[i] = i - 1;
      next[i] = i + 1;
    }
    for (int i = 0; i < size; i++) {
      judge(i, heap);
    }
    while (!heap.isEmpty()) {
      long candidate = heap.poll();
      int left = (int) candidate;
      if (best[left] != NONE && (int) (best[left] >> 32) == (int) (candidate >> 32)) {
        join(left, heap);
      }
    }
    for (int i = 0; i < size; i = next[i]) {
      sink.accept(symbols[i], begins[i], begins[next[i]]);
    }
  }

  private void join(int left, LongHeap heap) {
    int right = next[left];
    symbols[left] = (int) best[left];
    best[right] = NONE;
    next[left] = next[right];
    if (next[left] < size) {
      previous[next[left]] = left;
    }
    judge(left, heap);
    if (previous[left] >= 0) {
      judge(previous[left], heap);
    }
  }

  private void judge(int left, LongHeap heap) {
    int right = next[left];
    best[left] =
        right < size
            ? rule.join(symbols[left], symbols[right], begins[left], begins[next[right]])
            : NONE;
    if (best[left] != NONE) {
      heap.add((best[left] & 0xFFFFFFFF00000000L) | left);
    }
  }
}
