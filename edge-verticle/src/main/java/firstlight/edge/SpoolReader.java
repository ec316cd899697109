package firstlight.edge;

import com.google.protobuf.InvalidProtocolBufferException;
import firstlight.edge.EventDraft.Importance;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the Events of a spool in order, each put together from its lanes. Damaged frames are passed
 * over and counted. For one thread; blocks.
 */
final class SpoolReader implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(SpoolReader.class);
  private static final byte[] NOTHING = {};
  private static final Importance[] IMPORTANCES = Importance.values();

  private final EventSpool spool;
  private final SpoolMetrics metrics;
  private final Map<SpoolLane, SpoolFile> open = new EnumMap<>(SpoolLane.class);
  private long position;

  SpoolReader(EventSpool spool, SpoolMetrics metrics) {
    this.spool = spool;
    this.metrics = metrics;
  }

  /** Where it goes on. */
  long position() {
    return position;
  }

  void seek(long to) {
    position = to;
  }

  /** The next Event; null: there is none yet. */
  @Nullable SpooledEvent next() throws IOException {
    while (true) {
      SpoolSegment segment = spool.segmentFrom(SpoolPosition.segment(position));
      if (segment == null) {
        return null;
      }
      if (segment.number() != SpoolPosition.segment(position)) {
        position = SpoolPosition.of(segment.number(), 0);
      }
      boolean sealed = segment.isSealed();
      long length = segment.length();
      SpooledEvent event = null;
      if (SpoolPosition.offset(position) < length) {
        event = segment.isInMemory() ? held(segment) : framed(segment, length);
      } else if (!sealed) {
        return null;
      } else {
        position = SpoolPosition.of(segment.number() + 1, 0);
      }
      if (event != null) {
        position = event.next();
        return event;
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (SpoolFile file : open.values()) {
      file.close();
    }
    open.clear();
  }

  private @Nullable SpooledEvent held(SpoolSegment segment) throws IOException {
    long at = position;
    position++;
    MemoryLog.Held held = spool.memory().at(at);
    if (held == null) {
      return null;
    }
    if (held.isWithdrawn()) {
      segment.passed(held.importance());
      return null;
    }
    EventParts parts = held.parts();
    boolean textGone = held.textGone(parts);
    boolean traceGone = held.traceGone(parts);
    return new SpooledEvent(
        segment,
        held.importance(),
        parts.join(textGone, traceGone),
        at,
        at + 1,
        SpoolPosition.NONE,
        SpoolPosition.NONE,
        cut(textGone, traceGone));
  }

  /** What comes next in a file; null: nothing whole, and the position is behind it. */
  private @Nullable SpooledEvent framed(SpoolSegment segment, long length) throws IOException {
    long offset = SpoolPosition.offset(position);
    SpoolFile.Frame frame;
    SpoolFile file = file(SpoolLane.FACTS, segment);
    if (file == null) {
      // It was given up, and that was counted.
      position = SpoolPosition.of(segment.number() + 1, 0);
      return null;
    }
    try {
      frame = file.next(offset, length);
    } catch (IOException e) {
      LOG.error("Events from byte {} on can not be read: {}", offset, e.toString());
      frame = null;
    }
    if (frame == null || frame.at() != offset) {
      metrics.corrupt();
    }
    position = SpoolPosition.of(segment.number(), frame == null ? length : frame.end());
    return frame == null ? null : decoded(segment, frame);
  }

  private @Nullable SpooledEvent decoded(SpoolSegment segment, SpoolFile.Frame frame)
      throws IOException {
    ByteBuffer body = frame.body().duplicate();
    Importance importance = IMPORTANCES[body.get()];
    long textAt = body.getLong();
    long traceAt = body.getLong();
    byte[] fact = new byte[body.remaining()];
    body.get(fact);
    byte[] text = detail(SpoolLane.TEXT, textAt);
    byte[] trace = detail(SpoolLane.TRACE, traceAt);
    boolean textGone = textAt != SpoolPosition.NONE && text.length == 0;
    boolean traceGone = traceAt != SpoolPosition.NONE && trace.length == 0;
    try {
      return new SpooledEvent(
          segment,
          importance,
          new EventParts(fact, text, trace).join(textGone, traceGone),
          SpoolPosition.of(segment.number(), frame.at()),
          SpoolPosition.of(segment.number(), frame.end()),
          SpoolPosition.segment(textAt),
          SpoolPosition.segment(traceAt),
          cut(textGone, traceGone));
    } catch (InvalidProtocolBufferException e) {
      LOG.error("What is no Event lies in the spool: {}", e.toString());
      metrics.corrupt();
      segment.passed(importance);
      return null;
    }
  }

  private static EventRecords.@Nullable Cut cut(boolean textGone, boolean traceGone) {
    if (textGone) {
      return EventRecords.Cut.TEXT;
    }
    return traceGone ? EventRecords.Cut.DETAIL : null;
  }

  private byte[] detail(SpoolLane lane, long at) throws IOException {
    if (at < 0) {
      return NOTHING;
    }
    SpoolSegment segment = spool.detail(lane, SpoolPosition.segment(at));
    SpoolFile file = segment == null ? null : file(lane, segment);
    if (segment == null || file == null) {
      return NOTHING;
    }
    SpoolFile.Frame frame = file.at(SpoolPosition.offset(at), segment.length());
    if (frame == null) {
      metrics.corrupt();
      return NOTHING;
    }
    return frame.bytes();
  }

  /** Null: it was deleted meanwhile. */
  private @Nullable SpoolFile file(SpoolLane lane, SpoolSegment segment) throws IOException {
    SpoolFile last = open.get(lane);
    if (last != null && last.number() == segment.number()) {
      return last;
    }
    Path path = segment.path();
    if (path == null) {
      return null;
    }
    if (last != null) {
      last.close();
      open.remove(lane);
    }
    try {
      SpoolFile file = SpoolFile.open(lane, segment.number(), path);
      open.put(lane, file);
      return file;
    } catch (NoSuchFileException _) {
      return null;
    }
  }
}
