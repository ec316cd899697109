package firstlight.lake;

import firstlight.protocol.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.StreamSupport;
import org.apache.iceberg.ExpireSnapshots;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.util.SnapshotUtil;

/**
 * Ends old snapshots of a table and deletes what only they needed.
 *
 * <p>What counts is not how old a snapshot is but for how long it has not been the newest: a reader
 * may have begun with it until then, and is given its time from there on.
 */
final class Expiry {
  /** So many in one run: each means reading its list of manifests. */
  private static final int SNAPSHOTS_MAX = 500;

  private static final int ATTEMPTS = 5;

  private final Time time;
  private final Duration keep;

  /**
   * @param keep how long after it was replaced a snapshot can still be read
   */
  Expiry(Time time, Duration keep) {
    this.time = time;
    this.keep = keep;
  }

  /**
   * @param snapshots that were ended
   * @param objects that were deleted
   */
  record Expired(int snapshots, long objects) {}

  /** Gives way, until the next run, when commits of others come in between every time. */
  Expired expire(Table table) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      table.refresh();
      List<Snapshot> old = old(table);
      if (old.isEmpty()) {
        break;
      }
      AtomicLong deleted = new AtomicLong();
      // Naming them makes Iceberg compare all files of what goes with all of what stays.
      ExpireSnapshots expire = table.expireSnapshots().expireOlderThan(0).retainLast(1);
      old.forEach(snapshot -> expire.expireSnapshotId(snapshot.snapshotId()));
      try {
        expire
            .deleteWith(
                file -> {
                  table.io().deleteFile(file);
                  deleted.incrementAndGet();
                })
            .commit();
        return new Expired(old.size(), deleted.get());
      } catch (CommitFailedException e) {
        // Somebody else committed; look again.
      }
    }
    return new Expired(0, 0);
  }

  /** The oldest first. */
  private List<Snapshot> old(Table table) {
    long end = time.epochMillis() - keep.toMillis();
    List<Snapshot> newestFirst =
        StreamSupport.stream(SnapshotUtil.currentAncestors(table).spliterator(), false).toList();
    List<Snapshot> old = new ArrayList<>();
    for (int i = newestFirst.size() - 1; i > 0 && old.size() < SNAPSHOTS_MAX; i--) {
      if (newestFirst.get(i - 1).timestampMillis() < end) {
        old.add(newestFirst.get(i));
      }
    }
    return old;
  }
}
