package firstlight.lake;

import firstlight.protocol.IdSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.Table;

/**
 * Merges a group of a table's files into one. Blocks.
 *
 * <p>The steps are: copy the files here, merge them, count the rows, upload, commit. Whatever ends
 * it before the commit leaves the table as it was; an uploaded file that nobody refers to is
 * deleted at once, or else later by {@link Orphans}.
 */
final class Compactor {
  private static final String FILE = "compact-";
  private static final String FOLDER = "merge-";

  private final UpkeepConfig.Compaction limits;
  private final IdSource ids;

  /**
   * @param ids for names of files
   */
  Compactor(UpkeepConfig.Compaction limits, IdSource ids) {
    this.limits = limits;
    this.ids = ids;
  }

  /** Deletes what a crash has left in the folder; nobody may be merging there. */
  void clean() throws IOException {
    if (!Files.exists(limits.folder())) {
      return;
    }
    try (DirectoryStream<Path> left = Files.newDirectoryStream(limits.folder(), FOLDER + "*")) {
      for (Path folder : left) {
        Folders.delete(folder);
      }
    }
  }

  /**
   * @throws IOException a copy or the upload failed, or rows would have been lost
   * @throws SQLException the merging failed
   */
  Merging merge(Table table, CompactionPlan.Group group) throws IOException, SQLException {
    Path folder = Files.createDirectories(limits.folder().resolve(ids.next(FOLDER)));
    try {
      return merge(table, group, folder);
    } finally {
      Folders.delete(folder);
    }
  }

  private Merging merge(Table table, CompactionPlan.Group group, Path folder)
      throws IOException, SQLException {
    List<Path> copies = copy(table, group.files(), folder);
    Path output = folder.resolve("merged.parquet");
    ParquetMerge.Merged merged =
        new ParquetMerge(table.schema(), limits).write(copies, output, folder.resolve("spill"));
    check(group, merged);
    DataFile file = upload(table, group, output, merged);
    Replacement.Outcome outcome = new Replacement(table, group.files(), file).commit();
    return switch (outcome) {
      case DONE ->
          new Merging(
              group.files().size(),
              1,
              group.bytes(),
              file.fileSizeInBytes(),
              merged.rows(),
              merged.repeats(),
              0);
      case GIVEN_UP -> {
        table.io().deleteFile(file.location());
        yield Merging.GIVEN_UP;
      }
      // To delete the file might take rows away from the table.
      case UNKNOWN -> Merging.GIVEN_UP;
    };
  }

  private static List<Path> copy(Table table, List<DataFile> files, Path folder)
      throws IOException {
    List<Path> copies = new ArrayList<>();
    for (DataFile file : files) {
      Path copy = folder.resolve(copies.size() + ".parquet");
      try (InputStream content =
          table.io().newInputFile(file.location(), file.fileSizeInBytes()).newStream()) {
        Files.copy(content, copy);
      }
      copies.add(copy);
    }
    return copies;
  }

  /** The old files go when this is committed, so nothing is taken on trust. */
  private static void check(CompactionPlan.Group group, ParquetMerge.Merged merged)
      throws IOException {
    if (merged.rowsIn() != group.rows() || merged.rows() + merged.repeats() != merged.rowsIn()) {
      throw new IOException(
          "of %d rows %d were read, %d written and %d left out as repeats; nothing is replaced"
              .formatted(group.rows(), merged.rowsIn(), merged.rows(), merged.repeats()));
    }
  }

  private DataFile upload(
      Table table, CompactionPlan.Group group, Path output, ParquetMerge.Merged merged)
      throws IOException {
    DataFile first = group.files().getFirst();
    String folder = first.location().substring(0, first.location().lastIndexOf('/') + 1);
    String location = folder + ids.next(FILE) + ".parquet";
    try (OutputStream content = table.io().newOutputFile(location).create()) {
      Files.copy(output, content);
    }
    return new LakeFile(
            location,
            merged.rows(),
            Files.size(output),
            group.day() == null ? null : LocalDate.ofEpochDay(group.day()),
            merged.time(),
            merged.partitions(),
            merged.offsets())
        .in(table);
  }
}
