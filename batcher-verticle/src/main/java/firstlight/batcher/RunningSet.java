package firstlight.batcher;

import firstlight.batcher.Sequence.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The Sequences that have Blocks: the most urgent first, and of those the earliest arrived. */
final class RunningSet {
  private static final Comparator<Sequence> ORDER =
      Comparator.comparing(Sequence::priority).reversed().thenComparingLong(Sequence::arrival);

  private final int max;
  private final List<Sequence> sequences = new ArrayList<>();

  RunningSet(int max) {
    this.max = max;
  }

  int max() {
    return max;
  }

  boolean isFull() {
    return sequences.size() >= max;
  }

  void add(Sequence sequence) {
    int at = sequences.size();
    while (at > 0 && ORDER.compare(sequences.get(at - 1), sequence) > 0) {
      at--;
    }
    sequences.add(at, sequence);
  }

  void remove(Sequence sequence) {
    sequences.remove(sequence);
  }

  /** The least urgent, and latest, of those that may not run for want of credit. */
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
    Sequence last = null;
    for (Sequence sequence : sequences) {
      if (sequence.state() != State.RUNNING) {
        throw new IllegalStateException("a running Sequence does not run");
      }
      if (last != null && ORDER.compare(last, sequence) >= 0) {
        throw new IllegalStateException("running Sequences are out of order");
      }
      last = sequence;
    }
  }
}
