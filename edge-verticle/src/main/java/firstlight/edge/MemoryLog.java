package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What takes the disk's place while that can not be written, bounded by count and bytes. Events
 * have positions as on the disk. One thread adds, another takes.
 */
final class MemoryLog {
  private final int countMax;
  private final long bytesMax;
  private final NavigableMap<Long, Held> events = new ConcurrentSkipListMap<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  // Those before it have no trace left; no text.
  private long traceFrom;
  private long textFrom;

  /** An Event in memory. What it has beside the fact may go while it waits. */
  static final class Held {
    private final Importance importance;
    private final @Nullable Acceptance acceptance;
    private final boolean hadText;
    private final boolean hadTrace;
    private volatile EventParts parts;

    Held(EventParts parts, Importance importance, @Nullable Acceptance acceptance) {
      this.parts = parts;
      this.importance = importance;
      this.acceptance = acceptance;
      hadText = parts.hasText();
      hadTrace = parts.hasTrace();
    }

    EventParts parts() {
      return parts;
    }

    boolean textGone(EventParts now) {
      return hadText && !now.hasText();
    }

    boolean traceGone(EventParts now) {
      return hadTrace && !now.hasTrace();
    }

    Importance importance() {
      return importance;
    }

    /** Who waited for it was told that it was not taken. */
    boolean isWithdrawn() {
      return acceptance != null && acceptance.isOver();
    }
  }

  MemoryLog(int countMax, long bytesMax) {
    this.countMax = countMax;
    this.bytesMax = bytesMax;
  }

  /** Takes it in if there is room, or older detail can make some. */
  boolean add(long position, Held held) {
    while (!hasRoom(held) && dropDetail()) {
      // One after the other.
    }
    if (!hasRoom(held)) {
      held.parts = held.parts.withoutTrace().withoutText();
    }
    long more = held.parts.bytes();
    if (!hasRoom(held) || !Shares.allow(held.importance, count.get() + 1L, countMax)) {
      return false;
    }
    bytes.addAndGet(more);
    count.incrementAndGet();
    events.put(position, held);
    return true;
  }

  private boolean hasRoom(Held held) {
    return Shares.allow(held.importance, bytes.get() + held.parts.bytes(), bytesMax);
  }

  @Nullable Held at(long position) {
    return events.get(position);
  }

  /** Those before a position are on Kafka. */
  void sent(long position) {
    for (Map.Entry<Long, Held> entry : events.headMap(position).entrySet()) {
      Held held = entry.getValue();
      if (remove(entry.getKey(), held) && held.acceptance != null) {
        held.acceptance.durable();
      }
    }
  }

  /** Nothing will be sent any more. Returns what is lost by that. */
  Map<Long, Held> abandon() {
    Map<Long, Held> lost = new ConcurrentSkipListMap<>(events);
    lost.forEach(
        (position, held) -> {
          remove(position, held);
          if (held.acceptance != null) {
            held.acceptance.refuse();
          }
        });
    return lost;
  }

  int count() {
    return count.get();
  }

  long bytes() {
    return bytes.get();
  }

  private boolean remove(long position, Held held) {
    synchronized (held) {
      if (!events.remove(position, held)) {
        return false;
      }
      bytes.addAndGet(-held.parts.bytes());
      count.decrementAndGet();
      return true;
    }
  }

  /** Drops the oldest trace, or else the oldest text; false: there is none. */
  private boolean dropDetail() {
    for (Map.Entry<Long, Held> entry : events.tailMap(traceFrom).entrySet()) {
      EventParts parts = entry.getValue().parts;
      if (parts.hasTrace()) {
        return replace(entry.getKey(), entry.getValue(), parts.withoutTrace());
      }
      traceFrom = entry.getKey();
    }
    for (Map.Entry<Long, Held> entry : events.tailMap(textFrom).entrySet()) {
      EventParts parts = entry.getValue().parts;
      if (parts.hasText()) {
        return replace(entry.getKey(), entry.getValue(), parts.withoutText());
      }
      textFrom = entry.getKey();
    }
    return false;
  }

  private boolean replace(long position, Held held, EventParts less) {
    synchronized (held) {
      if (events.containsKey(position)) {
        bytes.addAndGet(less.bytes() - held.parts.bytes());
      }
      held.parts = less;
      return true;
    }
  }
}
