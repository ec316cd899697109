package firstlight.lake;

import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.RewriteFiles;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.ValidationException;
import org.jspecify.annotations.Nullable;

/**
 * Puts one file in the place of many, in one commit.
 *
 * <p>The commit carries on the offsets of Kafka that the snapshot before it has. Iceberg looks for
 * the newest snapshot once more while it commits; if that were another than the one the offsets are
 * from, the table would say that Events are missing which it has, and they would come twice. So the
 * commit insists on its parent, and begins again when that has changed.
 */
final class Replacement {
  private static final int ATTEMPTS = 10;

  private final Table table;
  private final List<DataFile> old;
  private final DataFile merged;

  Replacement(Table table, List<DataFile> old, DataFile merged) {
    this.table = table;
    this.old = old;
    this.merged = merged;
  }

  /** What became of it. */
  enum Outcome {
    DONE,
    /** An old file is no longer in the table, or others were faster every time. */
    GIVEN_UP,
    /** The new file may be in the table or not. */
    UNKNOWN
  }

  Outcome commit() {
    boolean unknown = false;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      table.refresh();
      Snapshot base = table.currentSnapshot();
      if (unknown && isIn(table)) {
        return Outcome.DONE;
      }
      try {
        rewrite(base).commit();
        return Outcome.DONE;
      } catch (CommitStateUnknownException e) {
        unknown = true;
      } catch (CommitFailedException e) {
        // Somebody else was faster.
      } catch (ValidationException e) {
        if (isNewest(base)) {
          break;
        }
      }
    }
    return unknown ? Outcome.UNKNOWN : Outcome.GIVEN_UP;
  }

  private RewriteFiles rewrite(@Nullable Snapshot base) {
    RewriteFiles rewrite = table.newRewrite().validateWith(new Parent(base));
    old.forEach(rewrite::deleteFile);
    rewrite.addFile(merged);
    String offsets = base == null ? null : base.summary().get(OFFSETS);
    if (offsets != null) {
      rewrite.set(OFFSETS, offsets);
    }
    return rewrite;
  }

  private boolean isIn(Table now) {
    return LakeFiles.of(now).stream().anyMatch(file -> file.location().equals(merged.location()));
  }

  private boolean isNewest(@Nullable Snapshot base) {
    table.refresh();
    return Objects.equals(id(base), id(table.currentSnapshot()));
  }

  private static @Nullable Long id(@Nullable Snapshot snapshot) {
    return snapshot == null ? null : snapshot.snapshotId();
  }
}
