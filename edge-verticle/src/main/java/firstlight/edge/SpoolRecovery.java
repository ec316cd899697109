package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes sense of what an earlier process left of a spool: counts its Events and cuts off a frame
 * that was not written to its end. A damaged frame in the middle stays, for the reader to count.
 */
final class SpoolRecovery {
  private static final Logger LOG = LoggerFactory.getLogger(SpoolRecovery.class);

  private final SpoolFiles files;

  SpoolRecovery(SpoolFiles files) {
    this.files = files;
  }

  /** Returns the largest number of a segment; 0: there is none. */
  long run() throws IOException {
    long last = 0;
    for (SpoolLane lane : SpoolLane.values()) {
      SpoolLog log = files.log(lane);
      log.find();
      last = Math.max(last, log.segments().isEmpty() ? 0 : log.segments().lastKey());
    }
    SpoolLog facts = files.log(SpoolLane.FACTS);
    for (SpoolSegment segment : facts.segments().values()) {
      try {
        long end = count(segment, segment.length(), segment::added);
        if (segment.number() == facts.segments().lastKey()) {
          facts.truncate(segment, end);
        }
      } catch (IOException e) {
        LOG.error("Events can not be counted in {}: {}", segment.path(), e.toString());
      }
    }
    return last;
  }

  /** What lies before the position was sent by an earlier process. */
  void skip(long position) throws IOException {
    SpoolLog facts = files.log(SpoolLane.FACTS);
    facts.deleteBelow(SpoolPosition.segment(position));
    SpoolSegment segment = facts.segments().get(SpoolPosition.segment(position));
    if (segment != null) {
      count(segment, SpoolPosition.offset(position), segment::passed);
    }
  }

  private interface Counter {
    void count(Importance importance);
  }

  /** Returns where the last whole frame ends. */
  private static long count(SpoolSegment segment, long limit, Counter counter) throws IOException {
    long end = 0;
    Path path = segment.path();
    if (path == null) {
      return end;
    }
    try (SpoolFile file = SpoolFile.open(SpoolLane.FACTS, segment.number(), path)) {
      SpoolFile.Frame frame = file.next(0, limit);
      while (frame != null) {
        counter.count(Importance.values()[frame.body().get(0)]);
        end = frame.end();
        frame = file.next(end, limit);
      }
    } catch (NoSuchFileException _) {
      // It was given up meanwhile.
    }
    return end;
  }
}
