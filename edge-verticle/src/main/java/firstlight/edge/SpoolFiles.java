package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The spool on the disk: three lanes within one limit of bytes. Written by one thread; a number of
 * Events is added and then flushed as a whole, or rolled back as a whole.
 *
 * <p>A fact's body is: its importance, the positions of its text and its trace, and the Event. Text
 * and trace are written first, so that what can be read has what it points at, unless that was
 * deleted to make room.
 */
final class SpoolFiles {
  static final int FACT_HEAD_BYTES = 1 + 2 * Long.BYTES;
  private static final byte[] NOTHING = {};

  private final Path folder;
  private final SpoolConfig config;
  private final SpoolDisk disk;
  private final Map<SpoolLane, SpoolLog> logs = new EnumMap<>(SpoolLane.class);
  private final List<Importance> added = new ArrayList<>();
  // Facts up to this segment may be on their way to Kafka, so they are not given up.
  private volatile long busySegment;

  SpoolFiles(Path folder, SpoolConfig config, SpoolDisk disk, LongSupplier numbers) {
    this.folder = folder;
    this.config = config;
    this.disk = disk;
    for (SpoolLane lane : SpoolLane.values()) {
      logs.put(lane, new SpoolLog(lane, folder, disk, numbers));
    }
  }

  Path folder() {
    return folder;
  }

  SpoolLog log(SpoolLane lane) {
    return logs.get(lane);
  }

  long bytes() {
    return logs.values().stream().mapToLong(SpoolLog::bytes).sum();
  }

  boolean hasRoomOnDisk() throws IOException {
    return disk.freeBytes(folder) >= config.freeBytesMin();
  }

  void busy(long segment) {
    busySegment = segment;
  }

  /** Before Events are added: files that are large enough end. */
  void begin() {
    boolean scarce = bytes() + config.segmentBytes() > config.bytesMax();
    for (SpoolLog log : logs.values()) {
      boolean detail = log != log(SpoolLane.FACTS);
      if (log.activeBytes() >= config.segmentBytes()
          || (scarce && detail && log.activeBytes() > 0 && log.oldestSealed().isEmpty())) {
        // So that there is something to delete.
        log.seal();
      }
      log.begin();
    }
  }

  /**
   * Adds an Event, if there is or can be made room for it; its detail only if there is room for
   * that, too.
   *
   * @param dropped is told of whole files of Events that had to go
   */
  boolean add(EventParts parts, Importance importance, LostSegments dropped) {
    EventParts kept = parts;
    if (!hasRoomFor(kept, importance, dropped)) {
      kept = new EventParts(parts.fact(), NOTHING, NOTHING);
      if (!hasRoomFor(kept, importance, dropped)) {
        return false;
      }
    }
    ByteBuffer head = ByteBuffer.allocate(FACT_HEAD_BYTES).put((byte) importance.ordinal());
    head.putLong(detail(SpoolLane.TEXT, parts.text(), kept.text()));
    head.putLong(detail(SpoolLane.TRACE, parts.trace(), kept.trace()));
    log(SpoolLane.FACTS).add(head.array(), kept.fact());
    added.add(importance);
    return true;
  }

  /** The larger number of the segments that a fact's body points at; 0 or less: it has none. */
  static long newestDetail(ByteBuffer body) {
    return Math.max(
        SpoolPosition.segment(body.getLong(body.position() + 1)),
        SpoolPosition.segment(body.getLong(body.position() + 1 + Long.BYTES)));
  }

  /** Who counts what is lost when whole files of Events go. */
  interface LostSegments {
    void lost(SpoolSegment segment);
  }

  private long detail(SpoolLane lane, byte[] had, byte[] kept) {
    if (kept.length == 0) {
      return had.length == 0 ? SpoolPosition.NONE : SpoolPosition.GONE;
    }
    return log(lane).add(kept, NOTHING);
  }

  /** Writes what was added. Facts last: they point at the others. */
  void flush() throws IOException {
    log(SpoolLane.TEXT).flush();
    log(SpoolLane.TRACE).flush();
    if (!added.isEmpty()) {
      SpoolSegment segment = log(SpoolLane.FACTS).active();
      // Counted before they can be read, so that what waits is never less than nothing.
      added.forEach(segment::added);
      try {
        log(SpoolLane.FACTS).flush();
      } catch (IOException e) {
        added.forEach(segment::passed);
        throw e;
      }
    }
    added.clear();
  }

  /** Only after a {@link #flush} that failed. */
  void rollBack() {
    added.clear();
    logs.values().forEach(SpoolLog::rollBack);
  }

  /** Waits until what was flushed outlives a loss of power. */
  void force() throws IOException {
    for (SpoolLog log : logs.values()) {
      log.force();
    }
  }

  void seal() {
    logs.values().forEach(SpoolLog::seal);
  }

  /** Deletes the oldest detail that is not needed to write; false: there is none. */
  boolean dropDetail() {
    return Stream.of(SpoolLane.TRACE, SpoolLane.TEXT)
        .map(this::log)
        .anyMatch(log -> log.oldestSealed().map(log::delete).orElse(false));
  }

  private boolean hasRoomFor(EventParts parts, Importance importance, LostSegments dropped) {
    long more = parts.bytes() + 3L * SpoolFrame.HEADER_BYTES + FACT_HEAD_BYTES;
    while (bytes() + pending() + more > config.bytesMax()) {
      if (!drop(dropped)) {
        return false;
      }
    }
    SpoolLog facts = log(SpoolLane.FACTS);
    long factBytes = facts.bytes() + facts.pending() + parts.fact().length;
    return Shares.allow(importance, factBytes, config.bytesMax());
  }

  private long pending() {
    return logs.values().stream().mapToLong(SpoolLog::pending).sum();
  }

  private boolean drop(LostSegments dropped) {
    return switch (config.whenFull()) {
      case DETAIL -> dropDetail();
      case OLDEST -> dropOldest(dropped);
      case NEWEST -> false;
    };
  }

  private boolean dropOldest(LostSegments dropped) {
    SpoolLog log = null;
    SpoolSegment oldest = null;
    for (SpoolLog one : logs.values()) {
      Optional<SpoolSegment> candidate =
          one.segments().values().stream().filter(segment -> mayGo(one, segment)).findFirst();
      if (candidate.isPresent() && (oldest == null || candidate.get().number() < oldest.number())) {
        log = one;
        oldest = candidate.get();
      }
    }
    if (log == null || oldest == null || !log.delete(oldest)) {
      return false;
    }
    if (log == log(SpoolLane.FACTS)) {
      dropped.lost(oldest);
    }
    return true;
  }

  private boolean mayGo(SpoolLog log, SpoolSegment segment) {
    return segment.isSealed()
        && (log != log(SpoolLane.FACTS)
            || (!segment.isInMemory()
                && segment.number() > busySegment
                && segment.waiting(Importance.FEEDBACK) == 0));
  }
}
