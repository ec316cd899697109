package firstlight.lake;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A question in DuckDB's SQL.
 *
 * @param values of its question marks
 */
public record LakeQuery(String sql, List<Object> values) {
  /** Functions that make a question out of a text could name any table. */
  private static final Pattern COMPUTED = Pattern.compile("\\bquery(_table)?\\s*\\(");

  public LakeQuery {
    sql = sql.strip();
    while (sql.endsWith(";")) {
      sql = sql.substring(0, sql.length() - 1).strip();
    }
    if (sql.isEmpty()) {
      throw new LakeFailure("there is no question. Give one such as \"select 1\".");
    }
    values = List.copyOf(values);
  }

  public LakeQuery(String sql) {
    this(sql, List.of());
  }

  /** The tables that can matter: the files of the others are not even copied. */
  public Set<LakeKind> kinds() {
    String text = sql.toLowerCase(Locale.ROOT);
    if (COMPUTED.matcher(text).find()) {
      return EnumSet.allOf(LakeKind.class);
    }
    Set<LakeKind> kinds = EnumSet.noneOf(LakeKind.class);
    for (LakeKind kind : LakeKind.values()) {
      if (text.contains(kind.table())) {
        kinds.add(kind);
      }
    }
    return kinds;
  }

  /**
   * Asks, and writes the rows as they come.
   *
   * @return how many rows
   * @throws LakeFailure what DuckDB says is wrong with it
   * @throws IOException when the output can not be written
   */
  public long write(LakeReader lake, RowFormat format, Writer out) throws IOException {
    try (PreparedStatement statement = prepare(lake, sql)) {
      if (!statement.execute()) {
        return 0;
      }
      try (ResultSet rows = statement.getResultSet()) {
        return RowWriter.write(rows, format, out);
      }
    } catch (SQLException e) {
      throw LakeReader.failure(e);
    }
  }

  /** Asks, and has DuckDB write a Parquet file, which the reader must have been opened for. */
  public long writeParquet(LakeReader lake, Path file) {
    String copy =
        "copy (%s\n) to %s (format parquet, compression zstd, use_tmp_file false)"
            .formatted(sql, DuckColumns.literal(file.toAbsolutePath().normalize().toString()));
    try (PreparedStatement statement = prepare(lake, copy)) {
      return statement.executeLargeUpdate();
    } catch (SQLException e) {
      throw LakeReader.failure(e);
    }
  }

  private PreparedStatement prepare(LakeReader lake, String text) throws SQLException {
    PreparedStatement statement = lake.connection().prepareStatement(text);
    for (int i = 0; i < values.size(); i++) {
      statement.setObject(i + 1, values.get(i));
    }
    return statement;
  }
}
