package firstlight.batcher;

import firstlight.batcher.Sequence.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The Sequences that have Blocks, by arrival. */
final class RunningSet {
  private final int max;
  private final List<Sequence> sequences = new ArrayList<>();

  RunningSet(int max) {
    this.max = max;
  }

  boolean isFull() {
    return sequences.size() >= max;
  }

  void add(Sequence sequence) {
    int at = sequences.size();
    while (at > 0 && sequences.get(at - 1).arrival() > sequence.arrival()) {
      at--;
    }
    sequences.add(at, sequence);
  }

  void remove(Sequence sequence) {
    sequences.remove(sequence);
  }

  /** The one that arrived last of those that may not run for want of credit. */
  Optional<Sequence> lastPaused() {
    for (Sequence sequence : sequences.reversed()) {
      if (!sequence.runnable()) {
        return Optional.of(sequence);
      }
    }
    return Optional.empty();
  }

  /** Whose Blocks are the least needed. */
  Sequence victim() {
    return lastPaused().orElseGet(sequences::getLast);
  }

  /** As they are now, whatever happens to the set. */
  List<Sequence> all() {
    return List.copyOf(sequences);
  }

  int size() {
    return sequences.size();
  }

  /**
   * @throws IllegalStateException when one does not belong here, or stands in the wrong place
   */
  void checkInvariants() {
    if (sequences.size() > max) {
      throw new IllegalStateException("too many Sequences run");
    }
    long last = 0;
    for (Sequence sequence : sequences) {
      if (sequence.state() != State.RUNNING) {
        throw new IllegalStateException("a running Sequence does not run");
      }
      if (sequence.arrival() <= last) {
        throw new IllegalStateException("running Sequences are out of order");
      }
      last = sequence.arrival();
    }
  }
}
