package firstlight.lake;

import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.RewriteFiles;
import org.apache.iceberg.Table;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.ValidationException;

/**
 * Puts one file in the place of many, in one commit. The commit carries Kafka's offsets on (see
 * {@link LakeCommits}), so it begins again whenever another one came in between.
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
      if (unknown && isIn(table)) {
        return Outcome.DONE;
      }
      try {
        rewrite().commit();
        return Outcome.DONE;
      } catch (CommitStateUnknownException e) {
        unknown = true;
      } catch (CommitFailedException e) {
        // Somebody else was faster.
      } catch (ValidationException e) {
        // An old file is no longer there.
        break;
      }
    }
    return unknown ? Outcome.UNKNOWN : Outcome.GIVEN_UP;
  }

  private RewriteFiles rewrite() {
    RewriteFiles rewrite = table.newRewrite();
    old.forEach(rewrite::deleteFile);
    rewrite.addFile(merged);
    LakeCommits.carry(table, rewrite);
    return rewrite;
  }

  private boolean isIn(Table now) {
    return LakeFiles.of(now).stream().anyMatch(file -> file.location().equals(merged.location()));
  }
}
