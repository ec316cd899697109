package firstlight.lake;

import firstlight.lake.LakeFile.Bounds;
import firstlight.lake.LakeOffsets.Batch;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.Table;

/** Fills the tables of a lake with files of rows that a test gives in SQL. */
final class SqlRows {
  private static final long MICROS_A_DAY = 86_400_000_000L;

  private final LakeCatalog catalog;
  private final LakeCommits commits;
  private final Path folder;
  private int offset;

  SqlRows(LakeCatalog catalog, Path folder) {
    this.catalog = catalog;
    this.commits = new LakeCommits(catalog);
    this.folder = folder;
  }

  /** Appends one file; rows have an id, a time of that day and what the columns say. */
  void append(LakeKind kind, String day, List<String> rows) throws Exception {
    Table table = catalog.table(kind);
    Path file = Files.createTempFile(folder, "rows", ".parquet");
    int first = offset;
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = duck.createStatement()) {
      statement.execute("set TimeZone = 'UTC'");
      List<String> selects = new ArrayList<>();
      for (String row : rows) {
        selects.add(
            """
            select * replace (time::timestamptz as time), 2 as event_schema, 'edge-1' as node,
              0 as kafka_partition, %d::bigint as kafka_offset from (select %s)
            """
                .formatted(offset++, row));
      }
      statement.execute("create table rows as " + String.join(" union all by name ", selects));
      statement.execute("copy rows to '%s' (format parquet)".formatted(file));
    }
    String uri = catalog.config().s3().uri("%s/%d.parquet".formatted(kind.word(), first));
    try (OutputStream out = table.io().newOutputFile(uri).create()) {
      Files.copy(file, out);
    }
    LocalDate date = LocalDate.parse(day);
    long begin = date.toEpochDay() * MICROS_A_DAY;
    commits.append(
        kind,
        "topic",
        0,
        new Batch(first, offset),
        List.of(
            new LakeFile(
                uri,
                rows.size(),
                Files.size(file),
                date,
                times(file, begin),
                new Bounds(0, 0),
                new Bounds(first, offset - 1))));
  }

  private static Bounds times(Path file, long begin) throws Exception {
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
        ResultSet row =
            duck.createStatement()
                .executeQuery(
                    "select min(epoch_us(time)), max(epoch_us(time)) from '%s'".formatted(file))) {
      row.next();
      Bounds times = new Bounds(row.getLong(1), row.getLong(2));
      if (times.min() < begin || times.max() >= begin + MICROS_A_DAY) {
        throw new IllegalArgumentException("a row of another day");
      }
      return times;
    }
  }
}
