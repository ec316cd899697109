package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import java.io.IOException;
import java.nio.ByteBuffer;
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
  private long pointedAt;

  SpoolRecovery(SpoolFiles files) {
    this.files = files;
  }

  /**
   * Returns the largest number that a segment has or had as far as anything points at it; 0: there
   * is none. Text and trace may have been deleted to make room while facts still point at them:
   * another one with that number would be taken for theirs.
   */
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
        long end =
            count(
                segment,
                segment.length(),
                body -> {
                  segment.added(importance(body));
                  pointedAt = Math.max(pointedAt, SpoolFiles.newestDetail(body));
                });
        if (segment.number() == facts.segments().lastKey()) {
          facts.truncate(segment, end);
        }
      } catch (IOException e) {
        LOG.error("Events can not be counted in {}: {}", segment.path(), e.toString());
      }
    }
    return Math.max(last, pointedAt);
  }

  /** What lies before the position was sent by an earlier process. */
  void skip(long position) throws IOException {
    SpoolLog facts = files.log(SpoolLane.FACTS);
    facts.deleteBelow(SpoolPosition.segment(position));
    SpoolSegment segment = facts.segments().get(SpoolPosition.segment(position));
    if (segment != null) {
      count(segment, SpoolPosition.offset(position), body -> segment.passed(importance(body)));
    }
  }

  private interface Counter {
    /** Of a fact, as {@link SpoolFiles} writes it. */
    void count(ByteBuffer body);
  }

  private static Importance importance(ByteBuffer body) {
    return Importance.values()[body.get(0)];
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
        counter.count(frame.body());
        end = frame.end();
        frame = file.next(end, limit);
      }
    } catch (NoSuchFileException _) {
      // It was given up meanwhile.
    }
    return end;
  }
}
