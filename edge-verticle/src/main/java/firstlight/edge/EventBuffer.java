package firstlight.edge;

import firstlight.protocol.wire.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The Events that Kafka has not acknowledged yet, bounded by count and bytes. Plain and
 * single-threaded; the room an Event takes is given back by {@link #release}, not by {@link #take}.
 *
 * <p>Without room the oldest debug detail goes first (token ids and log-probabilities), then whole
 * Responses, oldest first. What somebody waits for, and feedback, never makes room for others.
 */
final class EventBuffer {
  private final int countMax;
  private final long bytesMax;
  private final Deque<Entry> urgent = new ArrayDeque<>();
  private final Deque<Entry> waiting = new ArrayDeque<>();
  // Those of waiting that can still give something up, in the same order.
  private final Deque<Entry> detailed = new ArrayDeque<>();
  private final Deque<Entry> droppable = new ArrayDeque<>();
  private int count;
  private long bytes;
  private int shortened;

  /** An Event in the buffer. */
  static final class Entry {
    private final boolean awaited;
    private Event event;
    private int bytes;
    private boolean held;
    private boolean queued;

    /**
     * @param awaited somebody waits for it, so it goes before the others and is never dropped
     */
    Entry(Event event, boolean awaited) {
      this.event = event;
      this.awaited = awaited;
      bytes = event.getSerializedSize();
    }

    Event event() {
      return event;
    }

    boolean awaited() {
      return awaited;
    }

    /** Whether it still waits to be taken. */
    boolean queued() {
      return queued;
    }

    private boolean hasDetail() {
      return !awaited
          && event.getResponse().getGenerationsList().stream()
              .anyMatch(one -> one.getTokenIdsCount() > 0);
    }
  }

  EventBuffer(int countMax, long bytesMax) {
    this.countMax = countMax;
    this.bytesMax = bytesMax;
  }

  /**
   * Takes an Event in if there is room or room can be made.
   *
   * @param dropped is told of each Event that had to go, this one included
   * @return whether it is in
   */
  boolean add(Entry entry, Consumer<Event> dropped) {
    while (bytes + entry.bytes > bytesMax && !detailed.isEmpty()) {
      strip(detailed.pollFirst());
    }
    if (bytes + entry.bytes > bytesMax) {
      strip(entry);
    }
    while (!fits(entry) && !droppable.isEmpty()) {
      Entry oldest = droppable.pollFirst();
      if (oldest.queued) {
        release(oldest);
        dropped.accept(oldest.event);
      }
    }
    if (!fits(entry)) {
      dropped.accept(entry.event);
      return false;
    }
    count++;
    bytes += entry.bytes;
    entry.held = true;
    queue(entry, false);
    return true;
  }

  /** The next one to send; it keeps its room until {@link #release}. Null: there is none. */
  @Nullable Entry take() {
    Entry entry = urgent.pollFirst();
    if (entry == null) {
      entry = waiting.pollFirst();
    }
    if (entry != null) {
      entry.queued = false;
      forgetTaken(detailed);
      forgetTaken(droppable);
    }
    return entry;
  }

  /** It could not be sent: it is the next one again. */
  void putBack(Entry entry) {
    queue(entry, true);
  }

  /** It is out, or nobody wants it any more. */
  void release(Entry entry) {
    if (entry.held) {
      entry.held = false;
      if (entry.queued) {
        // What is given up is among the oldest, so it is found at once.
        (entry.awaited ? urgent : waiting).remove(entry);
        entry.queued = false;
        forgetTaken(detailed);
        forgetTaken(droppable);
      }
      count--;
      bytes -= entry.bytes;
    }
  }

  /** All that wait to be taken. */
  List<Entry> held() {
    List<Entry> held = new ArrayList<>(urgent);
    held.addAll(waiting);
    return held;
  }

  int count() {
    return count;
  }

  long bytes() {
    return bytes;
  }

  /** How many Events lost their detail so far. */
  int shortened() {
    return shortened;
  }

  private boolean fits(Entry entry) {
    return count < countMax && bytes + entry.bytes <= bytesMax;
  }

  private void queue(Entry entry, boolean first) {
    entry.queued = true;
    put(entry.awaited ? urgent : waiting, entry, first);
    if (!entry.awaited && entry.event.hasResponse()) {
      put(droppable, entry, first);
    }
    if (entry.hasDetail()) {
      put(detailed, entry, first);
    }
  }

  private static void put(Deque<Entry> queue, Entry entry, boolean first) {
    if (first) {
      queue.addFirst(entry);
    } else {
      queue.addLast(entry);
    }
  }

  private static void forgetTaken(Deque<Entry> queue) {
    while (!queue.isEmpty() && !queue.peekFirst().queued) {
      queue.pollFirst();
    }
  }

  private void strip(Entry entry) {
    if (!entry.hasDetail() || (entry.held && !entry.queued)) {
      return;
    }
    int before = entry.bytes;
    entry.event =
        entry.event.toBuilder()
            .setResponse(EventRecords.withoutDetail(entry.event.getResponse()))
            .build();
    entry.bytes = entry.event.getSerializedSize();
    if (entry.held) {
      bytes += entry.bytes - before;
    }
    shortened++;
  }
}
