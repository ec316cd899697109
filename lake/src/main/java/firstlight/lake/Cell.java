package firstlight.lake;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Array;
import java.sql.Blob;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.Map;
import org.duckdb.DuckDBStruct;
import org.duckdb.JsonNode;
import org.jspecify.annotations.Nullable;

/** One value of a row of DuckDB, written as JSON. Times are UTC; bytes are base64. */
final class Cell {
  private Cell() {}

  static void write(JsonGenerator json, ResultSet rows, int column)
      throws SQLException, IOException {
    write(json, rows.getObject(column));
  }

  static void write(JsonGenerator json, @Nullable Object value) throws SQLException, IOException {
    switch (value) {
      case null -> json.writeNull();
      case Boolean flag -> json.writeBoolean(flag);
      case Double number when !Double.isFinite(number) -> json.writeString(number.toString());
      case Float number when !Float.isFinite(number) -> json.writeString(number.toString());
      case Double number -> json.writeNumber(number);
      case Float number -> json.writeNumber(number);
      case BigDecimal number -> json.writeNumber(number);
      case BigInteger number -> json.writeNumber(number);
      case Number number -> json.writeNumber(number.longValue());
      case JsonNode node -> json.writeRawValue(node.toString());
      case Blob bytes -> json.writeString(base64(bytes));
      case Timestamp time -> json.writeString(time.toLocalDateTime().toString());
      case OffsetDateTime time -> json.writeString(time.toInstant().toString());
      case DuckDBStruct struct -> object(json, struct.getMap());
      case Map<?, ?> map -> object(json, map);
      case Array list -> list(json, (Object[]) list.getArray());
      default -> json.writeString(value.toString());
    }
  }

  private static String base64(Blob bytes) throws SQLException {
    return Base64.getEncoder().encodeToString(bytes.getBytes(1, (int) bytes.length()));
  }

  private static void object(JsonGenerator json, Map<?, ?> fields)
      throws SQLException, IOException {
    json.writeStartObject();
    for (Map.Entry<?, ?> field : fields.entrySet()) {
      json.writeFieldName(String.valueOf(field.getKey()));
      write(json, field.getValue());
    }
    json.writeEndObject();
  }

  private static void list(JsonGenerator json, Object[] elements) throws SQLException, IOException {
    json.writeStartArray();
    for (Object element : elements) {
      write(json, element);
    }
    json.writeEndArray();
  }
}
