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
import org.jspecify.annotations.Nullable;

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
   * @param time of the rows written, Unix time in microseconds; null: they have none
   */
  record Merged(
      long rowsIn,
      long rows,
      long repeats,
      LakeFile.@Nullable Bounds time,
      LakeFile.Bounds partitions,
      LakeFile.Bounds offsets) {}

  /**
   * Writes the file.
   *
   * @param spill a folder for what does not fit into memory
   * @throws SQLException DuckDB failed; what there is of the output is worth nothing
   */
  Merged write(List<Path> inputs, Path output, Path spill) throws SQLException {
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:", properties(spill));
        Statement statement = duck.createStatement()) {
      Source source = Source.of(statement, inputs);
      long repeats = findRepeats(statement, source);
      statement.execute(copy(statement, source, repeats, output));
      return look(statement, source, repeats, output);
    }
  }

  /**
   * What is read.
   *
   * @param sql a table function
   * @param bytes of all rows, not compressed
   */
  private record Source(String sql, long rows, long bytes) {
    static Source of(Statement statement, List<Path> inputs) throws SQLException {
      String files =
          inputs.stream().map(DuckColumns::literal).collect(Collectors.joining(", ", "[", "]"));
      // To bring files of several versions together, DuckDB keeps all of them open.
      return new Source(
          """
          read_parquet(%s, union_by_name = %s, filename = 'firstlight_file', file_row_number = true)
          """
              .formatted(files, schemas(statement, files) > 1),
          number(statement, "SELECT sum(num_rows) FROM parquet_file_metadata(%s)", files),
          number(
              statement, "SELECT sum(total_uncompressed_size) FROM parquet_metadata(%s)", files));
    }

    private static long schemas(Statement statement, String files) throws SQLException {
      return number(
          statement,
          """
          SELECT count(DISTINCT columns) FROM (
            SELECT list_sort(list([name, type, num_children::VARCHAR])) AS columns
            FROM parquet_schema(%s) WHERE name NOT IN ('duckdb_schema', 'schema')
            GROUP BY file_name)
          """,
          files);
    }

    /** Rows differ much in size, so a fixed number of them would take any amount of memory. */
    long rowGroupRows() {
      long wanted = ROW_GROUP_BYTES / Math.max(1, bytes / Math.max(1, rows));
      return Math.clamp(wanted, ROW_GROUP_ROWS_MIN, ROW_GROUP_ROWS_MAX);
    }
  }

  private Properties properties(Path spill) {
    Properties properties = new Properties();
    properties.setProperty("memory_limit", limits.memory() + "B");
    properties.setProperty("threads", Integer.toString(limits.threads()));
    properties.setProperty("temp_directory", spill.toString());
    properties.setProperty("enable_external_file_cache", "false");
    properties.setProperty("autoinstall_known_extensions", "false");
    properties.setProperty("autoload_known_extensions", "false");
    return properties;
  }

  /** Notes which rows are left out, by their place; there is no id that only one row has. */
  private static long findRepeats(Statement statement, Source source) throws SQLException {
    statement.execute(
        """
        CREATE TEMP TABLE repeats AS
        WITH places AS (
          SELECT event_id, time, kafka_partition, kafka_offset, firstlight_file, file_row_number
          FROM %s),
        twice AS (SELECT event_id FROM places GROUP BY event_id HAVING count(*) > 1)
        SELECT firstlight_file, file_row_number FROM (
          SELECT firstlight_file, file_row_number, row_number() OVER (
            PARTITION BY event_id
            ORDER BY time NULLS LAST, kafka_partition, kafka_offset, firstlight_file,
              file_row_number
          ) AS nth
          FROM places SEMI JOIN twice USING (event_id))
        WHERE nth > 1
        """
            .formatted(source.sql));
    return number(statement, "SELECT count(*) FROM repeats");
  }

  private String copy(Statement statement, Source source, long repeats, Path output)
      throws SQLException {
    return """
    COPY (SELECT %s FROM %s %s ORDER BY kafka_partition, kafka_offset) TO %s
    (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL %d, ROW_GROUP_SIZE %d, FIELD_IDS %s)
    """
        .formatted(
            DuckColumns.select(schema, columns(statement, source.sql)),
            source.sql,
            repeats == 0 ? "" : "ANTI JOIN repeats USING (firstlight_file, file_row_number)",
            DuckColumns.literal(output),
            ZSTD_LEVEL,
            source.rowGroupRows(),
            DuckColumns.fieldIds(schema));
  }

  /** Reads what was written. */
  private static Merged look(Statement statement, Source source, long repeats, Path output)
      throws SQLException {
    try (ResultSet file =
        statement.executeQuery(
            """
            SELECT count(*), min(epoch_us(time)), max(epoch_us(time)), min(kafka_partition),
              max(kafka_partition), min(kafka_offset), max(kafka_offset)
            FROM read_parquet(%s)
            """
                .formatted(DuckColumns.literal(output)))) {
      file.next();
      return new Merged(
          source.rows,
          file.getLong(1),
          repeats,
          file.getObject(2) == null ? null : bounds(file, 2),
          bounds(file, 4),
          bounds(file, 6));
    }
  }

  private static LakeFile.Bounds bounds(ResultSet row, int column) throws SQLException {
    return new LakeFile.Bounds(row.getLong(column), row.getLong(column + 1));
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

  private static long number(Statement statement, String sql, Object... values)
      throws SQLException {
    try (ResultSet result = statement.executeQuery(sql.formatted(values))) {
      result.next();
      return result.getLong(1);
    }
  }
}
