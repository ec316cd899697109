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
  private static final long START_MICROS = FilledLake.DAY.toEpochDay() * 86_400_000_000L;

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
    value(LakeSchema.TIME, "make_timestamptz(%d + i * 1000)".formatted(START_MICROS));
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

  /** When a row happened, Unix time in microseconds. */
  static long micros(long row) {
    return START_MICROS + row * 1000;
  }

  /** Responses with all that they can have. */
  static LakeRows responses(Schema schema) {
    return new LakeRows(schema)
        .value("response_id", "'resp_' || md5(i::VARCHAR)")
        .value("finish_reasons", "CASE WHEN i % 5 = 0 THEN [] ELSE ['STOP', 'LENGTH'] END")
        .value("session", "CASE WHEN i % 3 = 0 THEN NULL ELSE 'conv_' || i % 11 END")
        .value(
            "input_messages",
            """
            CASE WHEN i % 3 = 0 THEN [] ELSE [
              {'role': 'user', 'text': 'asked ✓ ' || i, 'calls': [], 'call_id': NULL},
              {'role': 'assistant', 'text': NULL,
               'calls': [{'id': 'call_' || i, 'name': 'f', 'arguments': '{}'}],
               'call_id': NULL}] END
            """)
        .value("output", "repeat(md5(i::VARCHAR) || chr(10), 3)")
        .value("output_tokens", "i % 97")
        .value(
            "generations",
            """
            CASE WHEN i % 4 = 0 THEN [] ELSE [
              {'index': 0, 'replica': 'r-0', 'seed': -i,
               'token_ids': [(hash(i * 1000 + k) % 32000)::BIGINT FOR k IN range(i % 50)],
               'token_logprobs': [-(hash(i + k) % 1000) / 997.0 FOR k IN range(i % 50)],
               'token_micros': [4294967295 - k FOR k IN range(i % 50)]},
              {'index': 1, 'replica': NULL, 'seed': i, 'token_ids': [], 'token_logprobs': [],
               'token_micros': []}] END
            """);
  }

  /** Judgements with notes of their own. */
  static LakeRows feedback(Schema schema) {
    return new LakeRows(schema)
        .value("feedback_id", "'fb_' || i")
        .value("number", "CASE WHEN i % 2 = 0 THEN NULL ELSE i / 7.0 END")
        .value(
            "metadata",
            "CASE WHEN i % 3 = 0 THEN MAP {} ELSE MAP {'k' || i: 'v', 'é': '' || i} END")
        .value("token_range", "CASE WHEN i % 2 = 0 THEN NULL ELSE {'start': i, 'end': i + 1} END");
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
          """
          COPY (SELECT %s FROM range(%d, %d) t(i)) TO %s
          (FORMAT parquet, COMPRESSION zstd, FIELD_IDS %s)
          """
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
