package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A bounded log of the Events that Kafka has not got yet: on the disk, and in memory while the disk
 * can not be written. One thread appends; another reads, in the same order, and says what is sent.
 *
 * <p>What changes between disk and memory is the segment that new Events go to. Segments are
 * numbered through, so the order stays, and so does what a position means.
 *
 * <p>Feedback that somebody waits for is confirmed when its bytes are on the disk, or when Kafka
 * has it. All else is confirmed to nobody, and outlives the process but not a loss of power.
 */
final class EventSpool {
  private static final Logger LOG = LoggerFactory.getLogger(EventSpool.class);
  private static final long DISK_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final SpoolMetrics metrics;
  private final Time time;
  private final EventsConfig config;
  private final SpoolDisk disk;
  private volatile @Nullable Place place;
  private final MemoryLog memory;
  private final NavigableMap<Long, SpoolSegment> memorySegments = new ConcurrentSkipListMap<>();
  private final AtomicLong numbers = new AtomicLong(1);
  private long sentBefore;
  private long ownFrom = SpoolPosition.of(1, 0);
  private @Nullable SpoolSegment memorySegment;
  private boolean diskFails;
  private long diskFailedNanos;

  /**
   * An Event to be kept.
   *
   * @param acceptance who waits for it
   */
  record Entry(Event event, Importance importance, @Nullable Acceptance acceptance) {
    boolean isAwaited() {
      return acceptance != null;
    }

    void durable() {
      if (acceptance != null) {
        acceptance.durable();
      }
    }

    void refuse() {
      if (acceptance != null) {
        acceptance.refuse();
      }
    }
  }

  /** Where it lies on the disk. */
  private record Place(SpoolFolder folder, SpoolFiles files) {}

  /** Empty, and in memory only. */
  EventSpool(EventsConfig config, SpoolTools tools) {
    this.config = config;
    disk = tools.disk();
    metrics = tools.metrics();
    time = tools.time();
    memory = new MemoryLog(config.waitingMax(), config.waitingBytesMax());
  }

  /** Begins with what an earlier process left in the folder. Before all else. */
  void recover(SpoolFolder folder) throws IOException {
    sentBefore = folder.sent();
    SpoolFiles files = files(folder);
    long last = new SpoolRecovery(files).run();
    numbers.set(Math.max(last, SpoolPosition.segment(sentBefore)) + 1);
    ownFrom = SpoolPosition.of(numbers.get(), 0);
    place = new Place(folder, files);
  }

  /** From now on it may lie in this folder, which is new. Only by who appends. */
  void moveTo(SpoolFolder folder) {
    place = new Place(folder, files(folder));
  }

  boolean hasFolder() {
    return place != null;
  }

  private SpoolFiles files(SpoolFolder folder) {
    return new SpoolFiles(folder.path(), config.spool(), disk, numbers::getAndIncrement);
  }

  /** How far an earlier process had come, as far as the folder knows. */
  long sentBefore() {
    return sentBefore;
  }

  /** Where what was appended since {@link #recover} begins. */
  long ownFrom() {
    return ownFrom;
  }

  /** Keeps them, in order, or counts them as lost; tells who waits. Blocks; never throws. */
  void append(List<Entry> entries) {
    Place now = place;
    if (now == null || !appendTo(now.files(), entries)) {
      appendToMemory(entries);
    }
  }

  /** Nothing is appended any more: what is on the disk is safe there. */
  void seal() {
    Place now = place;
    if (now != null) {
      try {
        now.files().force();
      } catch (IOException e) {
        LOG.warn("Events may not outlive a loss of power: {}", e.toString());
      }
      now.files().seal();
    }
    sealMemory();
  }

  /** Counts what is in memory as lost; only once nothing is read any more. */
  void abandonMemory() {
    memory.abandon().values().forEach(held -> metrics.lost(held.importance(), "closed"));
  }

  /** The first segment of facts with this number or a larger one; null: there is none. */
  @Nullable SpoolSegment segmentFrom(long number) {
    Place now = place;
    Map.Entry<Long, SpoolSegment> inMemory = memorySegments.ceilingEntry(number);
    Map.Entry<Long, SpoolSegment> onDisk =
        now == null ? null : now.files().log(SpoolLane.FACTS).segments().ceilingEntry(number);
    if (inMemory == null || onDisk == null) {
      Map.Entry<Long, SpoolSegment> only = inMemory == null ? onDisk : inMemory;
      return only == null ? null : only.getValue();
    }
    return inMemory.getKey() < onDisk.getKey() ? inMemory.getValue() : onDisk.getValue();
  }

  /** A file of text or trace; null: it is not there any more. */
  @Nullable SpoolSegment detail(SpoolLane lane, long number) {
    Place now = place;
    return now == null ? null : now.files().log(lane).segments().get(number);
  }

  MemoryLog memory() {
    return memory;
  }

  /** Nothing that was appended up to here is given up: it may be on its way. */
  void busy(long position) {
    Place now = place;
    if (now != null) {
      now.files().busy(SpoolPosition.segment(position));
    }
  }

  /** What lies before the position is on Kafka since an earlier run. */
  void skip(long position) throws IOException {
    Place now = place;
    if (now != null) {
      new SpoolRecovery(now.files()).skip(position);
    }
  }

  /**
   * These are on Kafka. Any thread, but one at a time.
   *
   * @param position where reading goes on
   */
  void sent(List<SpooledEvent> events, long position) {
    long text = 0;
    long trace = 0;
    for (SpooledEvent event : events) {
      event.segment().passed(event.importance());
      text = Math.max(text, event.textSegment());
      trace = Math.max(trace, event.traceSegment());
    }
    memory.sent(position);
    long segment = SpoolPosition.segment(position);
    memorySegments.headMap(segment).values().removeIf(SpoolSegment::isSealed);
    Place now = place;
    if (now != null) {
      now.folder().sent(position);
      now.files().log(SpoolLane.FACTS).deleteBelow(segment);
      now.files().log(SpoolLane.TEXT).deleteBelow(text);
      now.files().log(SpoolLane.TRACE).deleteBelow(trace);
    }
  }

  /** Events that Kafka has not got. */
  long waiting() {
    long sum = memorySegments.values().stream().mapToLong(SpoolSegment::waiting).sum();
    Place now = place;
    return now == null
        ? sum
        : sum
            + now.files().log(SpoolLane.FACTS).segments().values().stream()
                .mapToLong(SpoolSegment::waiting)
                .sum();
  }

  long bytes(SpoolLane lane) {
    Place now = place;
    return now == null ? 0 : now.files().log(lane).bytes();
  }

  private boolean appendTo(SpoolFiles to, List<Entry> entries) {
    if (diskFails && time.nanos() - diskFailedNanos < DISK_RETRY_NANOS) {
      return false;
    }
    IOException failure;
    try {
      boolean roomy = to.hasRoomOnDisk();
      while (!roomy && to.dropDetail()) {
        roomy = to.hasRoomOnDisk();
      }
      if (roomy && write(to, entries)) {
        diskFails = false;
        return true;
      }
      failure = new IOException("it is full");
    } catch (IOException e) {
      failure = e;
    }
    if (!diskFails) {
      LOG.warn("Events are held in memory: the disk fails: {}", failure.toString());
    }
    diskFails = true;
    diskFailedNanos = time.nanos();
    to.seal();
    return false;
  }

  /** False: the disk has no space for it. */
  private boolean write(SpoolFiles to, List<Entry> entries) throws IOException {
    List<Entry> kept = new ArrayList<>();
    List<Entry> refused = new ArrayList<>();
    boolean written = false;
    while (!written) {
      kept.clear();
      refused.clear();
      to.begin();
      for (Entry entry : entries) {
        EventParts parts = EventParts.of(entry.event());
        boolean fits = to.add(parts, entry.importance(), this::countLost);
        (fits ? kept : refused).add(entry);
      }
      try {
        sealMemory();
        to.flush();
        written = true;
      } catch (IOException e) {
        to.rollBack();
        if (!isFull(e)) {
          throw e;
        }
        to.seal();
        if (!to.dropDetail()) {
          return false;
        }
      }
    }
    refused.forEach(entry -> lose(entry, "spool_full"));
    confirm(to, kept);
    return true;
  }

  /** The JDK has no class of its own for it. */
  private static boolean isFull(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return message.contains("No space left") || message.contains("quota");
  }

  private void confirm(SpoolFiles to, List<Entry> kept) {
    boolean safe = true;
    if (kept.stream().anyMatch(Entry::isAwaited)) {
      try {
        to.log(SpoolLane.FACTS).force();
      } catch (IOException e) {
        // What the system could not write it may have forgotten: no later call would say so.
        LOG.warn("Events may not be on the disk: {}", e.toString());
        safe = false;
        to.seal();
      }
    }
    for (Entry entry : kept) {
      if (safe) {
        entry.durable();
      } else {
        entry.refuse();
      }
    }
  }

  private void appendToMemory(List<Entry> entries) {
    for (Entry entry : entries) {
      SpoolSegment segment = memorySegment;
      if (segment == null) {
        segment = new SpoolSegment(numbers.getAndIncrement(), null);
        memorySegments.put(segment.number(), segment);
        memorySegment = segment;
      }
      long position = SpoolPosition.of(segment.number(), segment.length());
      MemoryLog.Held held =
          new MemoryLog.Held(EventParts.of(entry.event()), entry.importance(), entry.acceptance());
      if (memory.add(position, held)) {
        segment.added(entry.importance());
        segment.grow(1);
      } else {
        lose(entry, "memory_full");
      }
    }
  }

  private void sealMemory() {
    if (memorySegment != null) {
      memorySegment.seal();
      memorySegment = null;
    }
  }

  private void lose(Entry entry, String reason) {
    metrics.lost(EventRecords.kind(entry.event()), reason);
    entry.refuse();
  }

  private void countLost(SpoolSegment segment) {
    for (Importance importance : Importance.values()) {
      for (int i = segment.waiting(importance); i > 0; i--) {
        metrics.lost(importance, "spool_full");
      }
    }
  }
}
