package firstlight.lake;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.duckdb.JsonNode;
import org.jspecify.annotations.Nullable;

/** Writes rows as they come; none is kept but the first ones of a table, for its widths. */
final class RowWriter {
  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();
  private static final int WIDTHS_ROWS = 200;
  private static final int CELL_MAX = 80;

  private final ResultSet rows;
  private final Writer out;
  private final List<String> names = new ArrayList<>();
  private long count;

  private RowWriter(ResultSet rows, Writer out) throws SQLException {
    this.rows = rows;
    this.out = out;
    ResultSetMetaData columns = rows.getMetaData();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      names.add(columns.getColumnLabel(i));
    }
  }

  /**
   * Writes all rows.
   *
   * @return how many
   * @throws IOException when the reader of the output has gone
   */
  static long write(ResultSet rows, RowFormat format, Writer out) throws SQLException, IOException {
    RowWriter writer = new RowWriter(rows, out);
    switch (format) {
      case TABLE -> writer.table();
      case CSV -> writer.csv();
      case JSON -> writer.json();
      case JSONL -> writer.jsonLines();
      case PARQUET -> throw new LakeFailure("parquet needs a file. Name one with --output.");
    }
    return writer.count;
  }

  private boolean next() throws SQLException {
    boolean more = rows.next();
    count += more ? 1 : 0;
    return more;
  }

  private void table() throws SQLException, IOException {
    List<List<String>> first = new ArrayList<>();
    while (first.size() < WIDTHS_ROWS && next()) {
      first.add(cells());
    }
    int[] widths = names.stream().mapToInt(RowWriter::width).toArray();
    for (List<String> row : first) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], width(row.get(i)));
      }
    }
    line(names, widths);
    line(Arrays.stream(widths).mapToObj("-"::repeat).toList(), widths);
    for (List<String> row : first) {
      line(row, widths);
    }
    if (first.size() == WIDTHS_ROWS) {
      while (next()) {
        line(cells(), widths);
      }
    }
    out.write("(%d %s)\n".formatted(count, count == 1 ? "row" : "rows"));
  }

  private List<String> cells() throws SQLException, IOException {
    List<String> cells = new ArrayList<>();
    for (int i = 1; i <= names.size(); i++) {
      String text = text(rows.getObject(i));
      cells.add(text == null ? "" : shown(text));
    }
    return cells;
  }

  /** In one line, without what would move a terminal's cursor. */
  private static String shown(String text) {
    String flat = text.length() > 8 * CELL_MAX ? text.substring(0, 8 * CELL_MAX) : text;
    flat = flat.replaceAll("\\s+", " ").replaceAll("\\p{C}", "");
    if (width(flat) <= CELL_MAX) {
      return flat;
    }
    return flat.substring(0, flat.offsetByCodePoints(0, CELL_MAX - 1)) + "…";
  }

  private static int width(String text) {
    return text.codePointCount(0, text.length());
  }

  private void line(List<String> cells, int[] widths) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      line.append(i == 0 ? "" : "  ").append(cells.get(i));
      if (i + 1 < widths.length) {
        line.repeat(' ', Math.max(0, widths[i] - width(cells.get(i))));
      }
    }
    out.write(line.append('\n').toString());
  }

  private void csv() throws SQLException, IOException {
    for (int i = 0; i < names.size(); i++) {
      out.write((i == 0 ? "" : ",") + field(names.get(i)));
    }
    out.write('\n');
    while (next()) {
      for (int i = 1; i <= names.size(); i++) {
        String text = text(rows.getObject(i));
        out.write((i == 1 ? "" : ",") + (text == null ? "" : field(text)));
      }
      out.write('\n');
    }
  }

  private static String field(String text) {
    boolean plain = !text.isEmpty() && text.chars().noneMatch(c -> ",\"\n\r".indexOf(c) >= 0);
    return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
  }

  private static @Nullable String text(@Nullable Object value) throws SQLException, IOException {
    return switch (value) {
      case null -> null;
      case String text -> text;
      case JsonNode node -> node.toString();
      case Timestamp time -> time.toLocalDateTime().toString();
      case OffsetDateTime time -> time.toInstant().toString();
      default -> {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text)) {
          Cell.write(json, value);
        }
        String written = text.toString();
        // What is a text in JSON needs no quotes here.
        yield written.startsWith("\"") ? written.substring(1, written.length() - 1) : written;
      }
    };
  }

  private void json() throws SQLException, IOException {
    out.write("[");
    while (next()) {
      out.write(count == 1 ? "\n" : ",\n");
      object();
    }
    out.write(count == 0 ? "]\n" : "\n]\n");
  }

  private void jsonLines() throws SQLException, IOException {
    while (next()) {
      object();
      out.write('\n');
    }
  }

  private void object() throws SQLException, IOException {
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      for (int i = 0; i < names.size(); i++) {
        json.writeFieldName(names.get(i));
        Cell.write(json, rows.getObject(i + 1));
      }
      json.writeEndObject();
    }
  }
}
