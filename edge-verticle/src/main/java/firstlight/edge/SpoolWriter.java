package firstlight.edge;

import firstlight.protocol.wire.Event;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes Events of drafts and appends them to the spool, many at a time, on a thread of its own. */
final class SpoolWriter {
  private static final Logger LOG = LoggerFactory.getLogger(SpoolWriter.class);
  private static final int BATCH_EVENTS_MAX = 512;
  private static final long BATCH_BYTES_MAX = 1 << 20;

  private final DraftQueue queue;
  private final EventSpool spool;
  private final int eventBytesMax;
  private final SpoolMetrics metrics;
  private final Runnable appended;

  /**
   * @param eventBytesMax a larger Event is shortened
   * @param appended hears that there is something new
   */
  SpoolWriter(
      DraftQueue queue,
      EventSpool spool,
      int eventBytesMax,
      SpoolMetrics metrics,
      Runnable appended) {
    this.queue = queue;
    this.spool = spool;
    this.eventBytesMax = eventBytesMax;
    this.metrics = metrics;
    this.appended = appended;
  }

  /** Appends what waits; false: there was nothing. */
  boolean write() {
    List<EventSpool.Entry> batch = new ArrayList<>();
    boolean some = false;
    long bytes = 0;
    while (batch.size() < BATCH_EVENTS_MAX && bytes < BATCH_BYTES_MAX) {
      DraftQueue.Handed handed = queue.poll();
      if (handed == null) {
        break;
      }
      some = true;
      EventSpool.Entry entry = build(handed);
      if (entry != null) {
        batch.add(entry);
        bytes += entry.event().getSerializedSize();
      }
    }
    if (!batch.isEmpty()) {
      append(batch);
    }
    return some;
  }

  private void append(List<EventSpool.Entry> batch) {
    try {
      spool.append(batch);
    } catch (RuntimeException e) {
      LOG.error("Events could not be kept", e);
      for (EventSpool.Entry entry : batch) {
        metrics.lost(EventRecords.kind(entry.event()), "failed");
        entry.refuse();
      }
    }
    appended.run();
  }

  /** Null: it is not wanted any more, or can not be made. */
  private EventSpool.@Nullable Entry build(DraftQueue.Handed handed) {
    Acceptance acceptance = handed.acceptance();
    if (acceptance != null && acceptance.isOver()) {
      return null;
    }
    try {
      EventRecords.Fitted fitted = EventRecords.fit(handed.draft().build(), eventBytesMax);
      Event event = fitted.event();
      if (fitted.cut() != EventRecords.Cut.NOTHING) {
        metrics.shortened(fitted.cut().word());
      }
      return new EventSpool.Entry(event, handed.draft().importance(), acceptance);
    } catch (RuntimeException e) {
      LOG.error("An Event could not be made", e);
      metrics.lost(handed.draft().importance(), "unbuildable");
      if (acceptance != null) {
        acceptance.refuse();
      }
      return null;
    }
  }
}
