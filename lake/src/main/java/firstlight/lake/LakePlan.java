package firstlight.lake;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;

/**
 * The data files of one table's current snapshot that can have Events of a range, in the order of
 * their names.
 */
record LakePlan(Table table, List<DataFile> files) {

  /**
   * @throws LakeFailure when rows were deleted in a way that only a whole Iceberg engine knows
   */
  static LakePlan of(Table table, TimeRange range) {
    List<DataFile> files = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks =
        table.newScan().filter(range.filter()).includeColumnStats().planFiles()) {
      for (FileScanTask task : tasks) {
        if (!task.deletes().isEmpty()) {
          throw new LakeFailure(
              "in %s another engine has deleted rows by delete files, which are not read here."
                      .formatted(table.name())
                  + " Rewrite its data files with that engine first.");
        }
        files.add(task.file());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    files.sort(Comparator.comparing(DataFile::location));
    return new LakePlan(table, List.copyOf(files));
  }

  long bytes() {
    return files.stream().mapToLong(DataFile::fileSizeInBytes).sum();
  }

  long rows() {
    return files.stream().mapToLong(DataFile::recordCount).sum();
  }
}
