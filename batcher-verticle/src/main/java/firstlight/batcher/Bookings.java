package firstlight.batcher;

import firstlight.protocol.TenantId;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Places for those that were refused, so that the time they were told is true: one after the other
 * as the backlog drains, and room is left for them when they are due. Who comes back with the same
 * prompt is known again. A place is kept for a while after it was due, and then given up; how many
 * were used decides how densely the next ones are given.
 *
 * <p>Each tenant has its own line, for each has its own backlog.
 */
final class Bookings {
  /**
   * Places are given out a little slower than the backlog drains, so that the queue gets shorter.
   */
  private static final double PACE = 0.9;

  private static final long EARLY_NANOS = 20_000_000;
  private static final long KEPT_NANOS = 2_000_000_000L;
  private static final double UNUSED = 0.05;
  private static final double FULFILLED = 0.2;
  private static final double USED_MIN = 0.1;

  private final int max;
  private final Map<TenantId, Line> lines = new LinkedHashMap<>();
  private int size;

  /** Share of the places that were used. */
  private double used = 1;

  private static final class Line {
    /** When places are due, by key; a prompt may have several. */
    final Map<Long, ArrayDeque<Long>> places = new HashMap<>();

    /** The same, the earliest first. */
    final PriorityQueue<Place> order = new PriorityQueue<>(Comparator.comparingLong(Place::due));

    int size;
    long tail;

    void add(Place place) {
      places.computeIfAbsent(place.key, _ -> new ArrayDeque<>()).add(place.due);
      order.add(place);
      size++;
    }

    /** False: it is not there any more. */
    boolean remove(Place place) {
      ArrayDeque<Long> due = places.get(place.key);
      if (due == null || !due.remove(place.due)) {
        return false;
      }
      if (due.isEmpty()) {
        places.remove(place.key);
      }
      size--;
      return true;
    }

    @Nullable Long first(long key) {
      ArrayDeque<Long> due = places.get(key);
      return due == null ? null : due.peek();
    }
  }

  private record Place(long key, long due) {}

  /**
   * @param max places altogether
   */
  Bookings(int max) {
    this.max = max;
  }

  static long key(Sequence sequence) {
    int[] prompt = sequence.spec().prompt();
    return 31L * Arrays.hashCode(prompt) + prompt.length * 1_000_003L + sequence.spec().outputMax();
  }

  /** Does somebody come back who was told to come about now? The place is used up. */
  boolean claim(TenantId tenant, long key, long now) {
    expire(now);
    Line line = lines.get(tenant);
    Long due = line == null ? null : line.first(key);
    if (line == null || due == null || due > now + EARLY_NANOS) {
      return false;
    }
    line.remove(new Place(key, due));
    size--;
    used += FULFILLED * (1 - used);
    return true;
  }

  /** Are there places of the tenant that may still be used? */
  boolean open(TenantId tenant, long now) {
    expire(now);
    Line line = lines.get(tenant);
    return line != null && line.size > 0;
  }

  /**
   * The next place in its tenant's line, for one that was refused.
   *
   * @param earliest when there may be room
   * @param work how long the backlog takes to drain by as much as it needs
   * @return when it is due
   */
  long book(TenantId tenant, long key, long now, long earliest, double work) {
    expire(now);
    Line line = lines.computeIfAbsent(tenant, _ -> new Line());
    long due = Math.max(earliest, line.tail);
    if (size < max) {
      line.tail = due + (long) (work * Math.max(USED_MIN, used) * lines.size() / PACE);
      line.add(new Place(key, due));
      size++;
    }
    return due;
  }

  private void expire(long now) {
    for (Iterator<Line> all = lines.values().iterator(); all.hasNext(); ) {
      Line line = all.next();
      while (!line.order.isEmpty() && line.order.peek().due + KEPT_NANOS < now) {
        if (line.remove(line.order.remove())) {
          size--;
          used -= UNUSED * used;
        }
      }
      if (line.size == 0 && line.tail < now) {
        all.remove();
      }
    }
  }

  int size() {
    return size;
  }
}
