package firstlight.lake;

import java.util.Iterator;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotAncestryValidator;
import org.jspecify.annotations.Nullable;

/**
 * Lets a commit through only on the snapshot it was made for.
 *
 * @param expected null: on a table that has none
 */
record Parent(@Nullable Snapshot expected) implements SnapshotAncestryValidator {
  @Override
  public boolean validate(Iterable<Snapshot> newestFirst) {
    Iterator<Snapshot> snapshots = newestFirst.iterator();
    if (expected == null || !snapshots.hasNext()) {
      return expected == null && !snapshots.hasNext();
    }
    return snapshots.next().snapshotId() == expected.snapshotId();
  }

  @Override
  public String errorMessage() {
    return "there is a newer snapshot";
  }
}
