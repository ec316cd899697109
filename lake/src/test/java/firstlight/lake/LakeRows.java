package firstlight.lake;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Types.NestedField;

/** Parquet files with rows of a table, written by DuckDB. */
final class LakeRows {
  private final Schema schema;
  private final Map<String, String> values = new LinkedHashMap<>();

  /**
   * @param schema of the files; all columns are null or zero at first
   */
  LakeRows(Schema schema) {
    this.schema = schema;
    value(LakeSchema.EVENT_ID, "printf('event-%09d', i)");
    value(LakeSchema.SCHEMA, "2");
    value(LakeSchema.TENANT, "'tenant-' || i % 7");
    value(LakeSchema.NODE, "'edge-0'");
    value(LakeSchema.OFFSET, "i");
  }

  /**
   * Gives a column a value.
   *
   * @param sql an expression; {@code i} is the row's number
   */
  LakeRows value(String column, String sql) {
    values.put(column, sql);
    return this;
  }

  /** Writes the rows from the first number up to but without the end. */
  void write(Path file, int partition, long first, long end) {
    String columns =
        schema.columns().stream()
            .map(column -> expression(column, partition))
            .collect(Collectors.joining(", "));
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = duck.createStatement()) {
      statement.execute("SET threads = 1");
      statement.execute(
          "COPY (SELECT %s FROM range(%d, %d) t(i)) TO %s (FORMAT parquet, COMPRESSION zstd, FIELD_IDS %s)"
              .formatted(
                  columns, first, end, DuckColumns.literal(file), DuckColumns.fieldIds(schema)));
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private String expression(NestedField column, int partition) {
    String value =
        column.name().equals(LakeSchema.PARTITION)
            ? Integer.toString(partition)
            : values.getOrDefault(column.name(), "NULL");
    return "CAST(%s AS %s) AS %s"
        .formatted(value, DuckColumns.type(column.type()), DuckColumns.quoted(column.name()));
  }
}
