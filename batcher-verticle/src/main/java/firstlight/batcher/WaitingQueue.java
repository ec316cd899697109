package firstlight.batcher;

import firstlight.batcher.Sequence.State;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Sequences without Blocks, in the order in which they will get some. Bounded in Sequences and in
 * tokens, except for those that were preempted: they were admitted already.
 */
final class WaitingQueue {
  private final int sequencesMax;
  private final int tokensMax;
  private final Deque<Sequence> queue = new ArrayDeque<>();
  private long tokens;

  /**
   * @param tokensMax most tokens to be prefilled for all of them
   */
  WaitingQueue(int sequencesMax, int tokensMax) {
    this.sequencesMax = sequencesMax;
    this.tokensMax = tokensMax;
  }

  /** Is there room for a Sequence with that many tokens? An empty queue takes any. */
  boolean hasRoomFor(int length) {
    return queue.isEmpty() || (queue.size() < sequencesMax && tokens + length <= tokensMax);
  }

  void addLast(Sequence sequence) {
    queue.addLast(sequence);
    tokens += sequence.length();
  }

  /** Goes before all others, since it was served before them. */
  void addFirst(Sequence sequence) {
    queue.addFirst(sequence);
    tokens += sequence.length();
  }

  void remove(Sequence sequence) {
    if (queue.remove(sequence)) {
      tokens -= sequence.length();
    }
  }

  /** The first that may run, which those without credit do not keep from it. */
  @Nullable Sequence firstRunnable() {
    Iterator<Sequence> all = queue.iterator();
    while (all.hasNext()) {
      Sequence next = all.next();
      if (next.runnable()) {
        return next;
      }
    }
    return null;
  }

  int size() {
    return queue.size();
  }

  long tokens() {
    return tokens;
  }

  /**
   * @throws IllegalStateException when one does not belong here, or tokens are miscounted
   */
  void checkInvariants() {
    long sum = 0;
    for (Sequence sequence : queue) {
      if (sequence.state() != State.WAITING
          || sequence.table().size() > 0
          || sequence.computed() > 0) {
        throw new IllegalStateException("a waiting Sequence has Blocks, or does not wait");
      }
      sum += sequence.length();
    }
    if (sum != tokens) {
      throw new IllegalStateException("waiting tokens are miscounted");
    }
  }
}
