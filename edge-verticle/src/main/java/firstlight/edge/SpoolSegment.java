package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a lane with a number that grows: a file, or, while the disk can not be written, a
 * place in memory. One thread writes it, another reads up to {@link #length()}.
 */
final class SpoolSegment {
  private static final int KINDS = Importance.values().length;

  private final long number;
  private final @Nullable Path path;
  // By importance; only in the lane of facts.
  private final AtomicIntegerArray added = new AtomicIntegerArray(KINDS);
  private final AtomicIntegerArray passed = new AtomicIntegerArray(KINDS);
  private volatile long length;
  private volatile boolean sealed;

  /**
   * @param path null: it is in memory, and its offsets are counts
   */
  SpoolSegment(long number, @Nullable Path path) {
    this.number = number;
    this.path = path;
  }

  long number() {
    return number;
  }

  @Nullable Path path() {
    return path;
  }

  boolean isInMemory() {
    return path == null;
  }

  /** What may be read of it, in bytes; in memory: Events. */
  long length() {
    return length;
  }

  void grow(long more) {
    length += more;
  }

  /** Nothing is written to it any more. Ask this before the length. */
  boolean isSealed() {
    return sealed;
  }

  void seal() {
    sealed = true;
  }

  void added(Importance importance) {
    added.incrementAndGet(importance.ordinal());
  }

  /** One of its Events is on Kafka, or was lost and counted. */
  void passed(Importance importance) {
    passed.incrementAndGet(importance.ordinal());
  }

  /** Events of it that Kafka has not got. */
  int waiting(Importance importance) {
    return Math.max(0, added.get(importance.ordinal()) - passed.get(importance.ordinal()));
  }

  int waiting() {
    int sum = 0;
    for (Importance importance : Importance.values()) {
      sum += waiting(importance);
    }
    return sum;
  }
}
