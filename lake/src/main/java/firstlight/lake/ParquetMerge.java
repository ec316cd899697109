package firstlight.lake;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.iceberg.Schema;

/**
 * Makes one Parquet file of many, with DuckDB: the rows in the order of Kafka, and of rows with the
 * same event id only the oldest. What does not fit into its memory goes to a folder.
 */
final class ParquetMerge {
  /** What a reader must hold to use one row group; also what DuckDB collects before it writes. */
  private static final long ROW_GROUP_BYTES = 32L << 20;

  /** DuckDB's smallest and its own choice. */
  private static final long ROW_GROUP_ROWS_MIN = 2048;

  private static final long ROW_GROUP_ROWS_MAX = 122_880;

  private static final int ZSTD_LEVEL = 3;

  private final Schema schema;
  private final UpkeepConfig.Compaction limits;

  /**
   * @param schema of the table
   */
  ParquetMerge(Schema schema, UpkeepConfig.Compaction limits) {
    this.schema = schema;
    this.limits = limits;
  }

  /**
   * @param rowsIn in the files that were read
   * @param rows in the file that was written
   * @param repeats rows that were left out
   */
  record Merged(long rowsIn, long rows, long repeats) {}

  /**
   * Writes the file.
   *
   * @param spill a folder for what does not fit into memory
   * @throws SQLException DuckDB failed; what there is of the output is worth nothing
   */
  Merged write(List<Path> inputs, Path output, Path spill) throws SQLException {
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:", properties(spill));
        Statement statement = duck.createStatement()) {
      String files =
          inputs.stream().map(DuckColumns::literal).collect(Collectors.joining(", ", "[", "]"));
      long rowsIn =
          number(statement, "SELECT sum(num_rows) FROM parquet_file_metadata(%s)".formatted(files));
      long repeats = findRepeats(statement, files);
      statement.execute(copy(statement, files, repeats, rowsIn, output));
      long rows =
          number(
              statement,
              "SELECT sum(num_rows) FROM parquet_file_metadata(%s)"
                  .formatted(DuckColumns.literal(output)));
      return new Merged(rowsIn, rows, repeats);
    }
  }

  private Properties properties(Path spill) {
    Properties properties = new Properties();
    properties.setProperty("memory_limit", limits.memory() + "B");
    properties.setProperty("threads", Integer.toString(limits.threads()));
    properties.setProperty("temp_directory", spill.toString());
    properties.setProperty("autoinstall_known_extensions", "false");
    properties.setProperty("autoload_known_extensions", "false");
    return properties;
  }

  /** Notes which rows are left out, by their place; there is no id that only one row has. */
  private static long findRepeats(Statement statement, String files) throws SQLException {
    statement.execute(
        """
        CREATE TEMP TABLE repeats AS
        WITH places AS (
          SELECT event_id, time, kafka_partition, kafka_offset, firstlight_file, file_row_number
          FROM read_parquet(%s, union_by_name = true, filename = 'firstlight_file',
            file_row_number = true)),
        twice AS (SELECT event_id FROM places GROUP BY event_id HAVING count(*) > 1)
        SELECT firstlight_file, file_row_number FROM (
          SELECT firstlight_file, file_row_number, row_number() OVER (
            PARTITION BY event_id
            ORDER BY time NULLS LAST, kafka_partition, kafka_offset, firstlight_file, file_row_number
          ) AS nth
          FROM places SEMI JOIN twice USING (event_id))
        WHERE nth > 1
        """
            .formatted(files));
    return number(statement, "SELECT count(*) FROM repeats");
  }

  private String copy(
      Statement statement, String files, long repeats, long rowsIn, Path output)
      throws SQLException {
    String source =
        "read_parquet(%s, union_by_name = true, filename = 'firstlight_file', file_row_number = true)"
            .formatted(files);
    return """
        COPY (SELECT %s FROM %s %s ORDER BY kafka_partition, kafka_offset) TO %s
        (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL %d, ROW_GROUP_SIZE %d, FIELD_IDS %s)
        """
        .formatted(
            DuckColumns.select(schema, columns(statement, source)),
            source,
            repeats == 0 ? "" : "ANTI JOIN repeats USING (firstlight_file, file_row_number)",
            DuckColumns.literal(output),
            ZSTD_LEVEL,
            rowGroupRows(statement, files, rowsIn),
            DuckColumns.fieldIds(schema));
  }

  /** Rows differ much in size, so a fixed number of them would take any amount of memory. */
  private static long rowGroupRows(Statement statement, String files, long rows)
      throws SQLException {
    long bytes =
        number(
            statement,
            "SELECT sum(total_uncompressed_size) FROM parquet_metadata(%s)".formatted(files));
    long wanted = ROW_GROUP_BYTES / Math.max(1, bytes / Math.max(1, rows));
    return Math.clamp(wanted, ROW_GROUP_ROWS_MIN, ROW_GROUP_ROWS_MAX);
  }

  private static Set<String> columns(Statement statement, String source) throws SQLException {
    Set<String> names = new HashSet<>();
    try (ResultSet columns = statement.executeQuery("DESCRIBE SELECT * FROM " + source)) {
      while (columns.next()) {
        names.add(columns.getString(1));
      }
    }
    return names;
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getLong(1);
    }
  }
}
