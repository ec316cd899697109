package firstlight.lake;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;

/** The columns of an Iceberg table in DuckDB's words. */
final class DuckColumns {
  private DuckColumns() {}

  /**
   * What to select so that the rows are as the table says: with a null where a file is older than a
   * column or than a part of one.
   *
   * @param present the columns that there are in the files
   */
  static String select(Schema schema, Set<String> present) {
    return schema.columns().stream()
        .map(
            column ->
                "CAST(%s AS %s) AS %s"
                    .formatted(
                        present.contains(column.name()) ? quoted(column.name()) : "NULL",
                        type(column.type()),
                        quoted(column.name())))
        .collect(Collectors.joining(", "));
  }

  /** For a table of DuckDB with the same columns: each name with its type. */
  static String definitions(Schema schema) {
    return definitions(schema.columns());
  }

  private static String definitions(List<NestedField> fields) {
    return fields.stream()
        .map(field -> quoted(field.name()) + " " + type(field.type()))
        .collect(Collectors.joining(", "));
  }

  /** The value of COPY's option FIELD_IDS: other engines find columns by these numbers. */
  static String fieldIds(Schema schema) {
    return ids(schema.columns());
  }

  /** Its name in DuckDB. */
  static String type(Type type) {
    return switch (type) {
      case Types.StructType struct -> "STRUCT(%s)".formatted(definitions(struct.fields()));
      case Types.ListType list -> type(list.elementType()) + "[]";
      case Types.MapType map -> "MAP(%s, %s)".formatted(type(map.keyType()), type(map.valueType()));
      default -> primitive(type);
    };
  }

  private static String primitive(Type type) {
    return switch (type.typeId()) {
      case BOOLEAN -> "BOOLEAN";
      case INTEGER -> "INTEGER";
      case LONG -> "BIGINT";
      case FLOAT -> "FLOAT";
      case DOUBLE -> "DOUBLE";
      case STRING -> "VARCHAR";
      case BINARY -> "BLOB";
      case DATE -> "DATE";
      case TIMESTAMP ->
          ((Types.TimestampType) type).shouldAdjustToUTC() ? "TIMESTAMPTZ" : "TIMESTAMP";
      default -> throw new IllegalArgumentException("the lake has no columns of type " + type);
    };
  }

  /** A name that SQL takes as it is. */
  static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** A text that SQL takes as it is. */
  static String literal(Object text) {
    return "'" + text.toString().replace("'", "''") + "'";
  }

  private static String ids(List<NestedField> fields) {
    return fields.stream().map(DuckColumns::id).collect(Collectors.joining(", ", "{", "}"));
  }

  private static String id(NestedField field) {
    return quoted(field.name()) + ": " + id(field.fieldId(), field.type());
  }

  private static String id(int id, Type type) {
    if (type.isPrimitiveType()) {
      return Integer.toString(id);
    }
    // DuckDB and Iceberg name the parts of lists and maps alike: element, key and value.
    String parts = ids(type.asNestedType().fields());
    return "{__duckdb_field_id: %d, %s".formatted(id, parts.substring(1));
  }
}
