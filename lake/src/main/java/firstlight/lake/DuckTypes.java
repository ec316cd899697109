package firstlight.lake;

import java.util.stream.Collectors;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types.NestedField;

/** The columns of an Iceberg table in DuckDB's words. */
final class DuckTypes {
  private DuckTypes() {}

  /** For CREATE TABLE: each name with its type. */
  static String columns(Schema schema) {
    return schema.columns().stream().map(DuckTypes::field).collect(Collectors.joining(", "));
  }

  /** For SELECT: each column, cast to the type that the table says. */
  static String casts(Schema schema) {
    return schema.columns().stream()
        .map(column -> "%1$s::%2$s as %1$s".formatted(quoted(column.name()), type(column.type())))
        .collect(Collectors.joining(", "));
  }

  private static String field(NestedField field) {
    return quoted(field.name()) + " " + type(field.type());
  }

  static String type(Type type) {
    return switch (type.typeId()) {
      case BOOLEAN -> "BOOLEAN";
      case INTEGER -> "INTEGER";
      case LONG -> "BIGINT";
      case FLOAT -> "FLOAT";
      case DOUBLE -> "DOUBLE";
      case STRING -> "VARCHAR";
      case BINARY -> "BLOB";
      case DATE -> "DATE";
      case TIMESTAMP -> "TIMESTAMPTZ";
      case LIST -> type(type.asListType().elementType()) + "[]";
      case MAP ->
          "MAP(%s, %s)"
              .formatted(type(type.asMapType().keyType()), type(type.asMapType().valueType()));
      case STRUCT ->
          type.asStructType().fields().stream()
              .map(DuckTypes::field)
              .collect(Collectors.joining(", ", "STRUCT(", ")"));
      default ->
          throw new LakeFailure(
              "a column has the type %s, which this version does not know. Use a newer one."
                  .formatted(type));
    };
  }

  /** A name as it stands in SQL. */
  static String quoted(String name) {
    return "\"" + name.replace("\"", "\"\"") + "\"";
  }

  /** A text as it stands in SQL. */
  static String text(String value) {
    return "'" + value.replace("'", "''") + "'";
  }
}
