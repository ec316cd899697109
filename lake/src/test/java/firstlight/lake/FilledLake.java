package firstlight.lake;

import firstlight.lake.LakeFile.Bounds;
import firstlight.lake.LakeOffsets.Batch;
import firstlight.protocol.IdSource;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.iceberg.Table;
import org.jspecify.annotations.Nullable;

/** A lake that a test fills as the sink does, one file a batch, and looks into with DuckDB. */
final class FilledLake implements AutoCloseable {
  static final String TOPIC = "topic-id";
  static final LocalDate DAY = LocalDate.of(2026, 11, 29);

  final LakeConfig config;
  final LateTime time = new LateTime();
  final IdSource ids = new IdSource(new Random(7));
  final LakeCatalog catalog;
  final LakeCommits commits;
  private final Path folder;
  private int copies;

  FilledLake(LakeConfig config, Path folder) {
    this.config = config;
    this.folder = folder;
    catalog = LakeCatalog.open(config);
    commits = new LakeCommits(catalog);
  }

  /** The settings of a test: everything small, and the work in its own folder. */
  static LakeConfig config(LakeConfig plain, Path folder) {
    UpkeepConfig usual = plain.upkeep();
    UpkeepConfig.Compaction merging = usual.compaction();
    return new LakeConfig(
        plain.catalog(),
        plain.s3(),
        new UpkeepConfig(
            true,
            usual.every(),
            new UpkeepConfig.Compaction(
                merging.smallBytes(),
                merging.filesMin(),
                merging.filesMax(),
                merging.targetBytes(),
                merging.mergesMax(),
                merging.memory(),
                merging.threads(),
                folder.resolve("work")),
            usual.keepSnapshots(),
            usual.orphanAge(),
            usual.orphansMax()),
        LakeReaderConfig.DEFAULT);
  }

  Table table(LakeKind kind) {
    return catalog.find(kind).orElseThrow();
  }

  /** Uploads so many files with rows of a partition, and appends them as one batch. */
  void append(LakeKind kind, LakeRows rows, int partition, long first, long end, int files) {
    List<LakeFile> batch = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      long from = first + (end - first) * i / files;
      long to = first + (end - first) * (i + 1) / files;
      batch.add(upload(kind, rows, partition, from, to, DAY));
    }
    commits.append(kind, TOPIC, partition, new Batch(first, end), batch);
  }

  /**
   * Only uploads.
   *
   * @param day null: of the rows without a time
   */
  LakeFile upload(
      LakeKind kind, LakeRows rows, int partition, long first, long end, @Nullable LocalDate day) {
    Path local = folder.resolve("upload.parquet");
    rows.write(local, partition, first, end);
    String uri =
        config
            .s3()
            .uri(
                "kind=%s/date=%s/events-%d-%020d.parquet"
                    .formatted(kind.word(), day == null ? "invalid" : day, partition, first));
    try (OutputStream object = catalog.table(kind).io().newOutputFile(uri).createOrOverwrite()) {
      Files.copy(local, object);
      return new LakeFile(
          uri,
          end - first,
          Files.size(local),
          day,
          day == null ? null : new Bounds(LakeRows.micros(first), LakeRows.micros(end - 1)),
          new Bounds(partition, partition),
          new Bounds(first, end - 1));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Copies the files of a table's newest snapshot here; gives what SQL reads them with. */
  String read(Table table) {
    table.refresh();
    return read(table, LakeFiles.of(table).stream().map(file -> file.location()).toList());
  }

  String read(Table table, List<String> locations) {
    List<String> local = new ArrayList<>();
    for (String location : locations) {
      Path copy = folder.resolve("copy-" + copies++ + ".parquet");
      try (InputStream object = table.io().newInputFile(location).newStream()) {
        Files.copy(object, copy);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
      local.add(DuckColumns.literal(copy));
    }
    return "read_parquet(%s, union_by_name = true)"
        .formatted(local.stream().collect(Collectors.joining(", ", "[", "]")));
  }

  /** The first row of an answer, its values separated by blanks. */
  static String sql(String query, Object... values) {
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = duck.createStatement();
        ResultSet result = statement.executeQuery(query.formatted(values))) {
      result.next();
      List<String> row = new ArrayList<>();
      for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
        row.add(result.getString(i));
      }
      return String.join(" ", row);
    } catch (SQLException e) {
      throw new AssertionError(query, e);
    }
  }

  /** How many rows there are in the one that are not, so often, in the other. */
  static long difference(String one, String other) {
    return Long.parseLong(
        sql("SELECT count(*) FROM (SELECT * FROM %s EXCEPT ALL SELECT * FROM %s)", one, other));
  }

  LakeUpkeep upkeep(MeterRegistry registry) {
    return new LakeUpkeep(config, time, ids, registry);
  }

  @Override
  public void close() {
    catalog.close();
  }
}
