package firstlight.lake;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;

/** The data files of a table's newest snapshot, as of its last refresh. */
final class LakeFiles {
  private LakeFiles() {}

  /** Without statistics, which would be most of it. */
  static List<DataFile> of(Table table) {
    List<DataFile> files = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
      tasks.forEach(task -> files.add(task.file().copyWithoutStats()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }
}
