package firstlight.edge;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of one lane. One thread writes, what it adds is there for readers after {@link #flush};
 * deleting and reading may happen on other threads. A file of an earlier run is never written
 * again, so a torn end needs no repair: readers pass over it.
 */
final class SpoolLog {
  private static final Logger LOG = LoggerFactory.getLogger(SpoolLog.class);
  private static final int BUFFER_BYTES_FIRST = 64 << 10;
  private static final int BUFFER_BYTES_KEPT = 4 << 20;

  private final SpoolLane lane;
  private final Path folder;
  private final SpoolDisk disk;
  private final LongSupplier numbers;
  private final NavigableMap<Long, SpoolSegment> segments = new ConcurrentSkipListMap<>();
  private final AtomicLong bytes = new AtomicLong();
  private ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES_FIRST);
  private @Nullable SpoolSegment active;
  private @Nullable FileChannel channel;
  private boolean named;
  private long mark;

  /**
   * @param numbers gives each segment its number
   */
  SpoolLog(SpoolLane lane, Path folder, SpoolDisk disk, LongSupplier numbers) {
    this.lane = lane;
    this.folder = folder;
    this.disk = disk;
    this.numbers = numbers;
  }

  /** Finds the files that are there. */
  void find() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        long number = number(file.getFileName().toString());
        if (number > 0) {
          SpoolSegment segment = new SpoolSegment(number, file);
          segment.grow(Files.size(file));
          segment.seal();
          segments.put(number, segment);
          bytes.addAndGet(segment.length());
        }
      }
    }
  }

  /** Adds a frame, in memory first. Gives its position. */
  long add(byte[] first, byte[] second) {
    SpoolSegment to = active;
    if (to == null) {
      long number = numbers.getAsLong();
      to = new SpoolSegment(number, folder.resolve(lane.word() + "-" + number + ".log"));
      active = to;
    }
    long at = SpoolPosition.of(to.number(), to.length() + buffer.position());
    reserve(SpoolFrame.size(first.length + second.length));
    SpoolFrame.put(buffer, lane, first, second);
    return at;
  }

  /** What was added and is not written yet, in bytes. */
  int pending() {
    return buffer.position();
  }

  /** The segment that what was added went to; only after {@link #add}. */
  SpoolSegment active() {
    if (active == null) {
      throw new IllegalStateException("nothing was added");
    }
    return active;
  }

  /** Writes what was added, so that readers find it. */
  void flush() throws IOException {
    SpoolSegment to = active;
    if (buffer.position() == 0 || to == null || to.path() == null) {
      return;
    }
    FileChannel file = channel;
    if (file == null) {
      file = disk.create(to.path());
      channel = file;
      named = false;
      segments.put(to.number(), to);
    }
    int size = buffer.position();
    disk.append(file, buffer.flip());
    buffer.clear();
    bytes.addAndGet(size);
    to.grow(size);
    if (buffer.capacity() > BUFFER_BYTES_KEPT) {
      buffer = ByteBuffer.allocate(BUFFER_BYTES_FIRST);
    }
  }

  /** What is added from here on can be rolled back. */
  void begin() {
    mark = activeBytes();
  }

  /** Forgets what was added since {@link #begin}, written or not. */
  void rollBack() {
    buffer.clear();
    SpoolSegment to = active;
    FileChannel file = channel;
    if (to == null || file == null) {
      active = null;
      return;
    }
    bytes.addAndGet(mark - to.length());
    to.grow(mark - to.length());
    try {
      file.truncate(mark);
    } catch (IOException _) {
      // What is behind the length is not read in this run.
      seal();
    }
  }

  /** Waits until what was written outlives a loss of power. */
  void force() throws IOException {
    if (channel == null) {
      return;
    }
    disk.force(channel);
    if (!named) {
      try (FileChannel names = FileChannel.open(folder, StandardOpenOption.READ)) {
        disk.force(names);
      }
      named = true;
    }
  }

  /** The next frame begins a new file. Not between {@link #add} and {@link #flush}. */
  void seal() {
    if (active != null) {
      active.seal();
      if (active.length() == 0) {
        delete(active);
      }
    }
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException _) {
      // It was written as far as its length says.
    }
    active = null;
    channel = null;
  }

  long activeBytes() {
    return active == null ? 0 : active.length();
  }

  long bytes() {
    return bytes.get();
  }

  /** By number. */
  NavigableMap<Long, SpoolSegment> segments() {
    return segments;
  }

  /** The oldest file that is not written any more. */
  Optional<SpoolSegment> oldestSealed() {
    return segments.values().stream().filter(SpoolSegment::isSealed).findFirst();
  }

  /** Any thread. Returns whether this call deleted it. */
  boolean delete(SpoolSegment segment) {
    Path path = segment.path();
    if (!segments.remove(segment.number(), segment)) {
      return false;
    }
    if (path != null) {
      bytes.addAndGet(-segment.length());
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        LOG.warn("It can not be deleted: {}", e.toString());
      }
    }
    return true;
  }

  /** Cuts off what a crash left of a frame that was not written to its end. */
  void truncate(SpoolSegment segment, long length) throws IOException {
    Path path = segment.path();
    if (path != null && length < segment.length()) {
      try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
        file.truncate(length);
      }
      bytes.addAndGet(length - segment.length());
      segment.grow(length - segment.length());
    }
  }

  /** Deletes what is not written any more and has a smaller number. Any thread. */
  void deleteBelow(long number) {
    for (SpoolSegment segment : segments.headMap(number).values()) {
      if (segment.isSealed()) {
        delete(segment);
      }
    }
  }

  private void reserve(int more) {
    if (buffer.remaining() < more) {
      int needed = Math.addExact(buffer.position(), more);
      ByteBuffer larger = ByteBuffer.allocate(Math.max(needed, 2 * buffer.capacity()));
      buffer = larger.put(buffer.flip());
    }
  }

  private long number(String name) {
    String prefix = lane.word() + "-";
    if (!name.startsWith(prefix) || !name.endsWith(".log")) {
      return 0;
    }
    try {
      return Long.parseLong(name.substring(prefix.length(), name.length() - ".log".length()));
    } catch (NumberFormatException _) {
      return 0;
    }
  }
}
