package firstlight.lake;

import java.util.List;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types.ListType;
import org.apache.iceberg.types.Types.MapType;
import org.apache.iceberg.types.Types.NestedField;
import org.apache.iceberg.types.Types.StructType;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type.Repetition;
import org.apache.parquet.schema.Types;

/** Iceberg's types in Parquet's words, as Iceberg's specification puts it. */
final class ParquetColumns {
  private ParquetColumns() {}

  static List<org.apache.parquet.schema.Type> of(StructType struct) {
    return struct.fields().stream().map(ParquetColumns::of).toList();
  }

  private static org.apache.parquet.schema.Type of(NestedField field) {
    Repetition repetition = field.isOptional() ? Repetition.OPTIONAL : Repetition.REQUIRED;
    org.apache.parquet.schema.Type column =
        switch (field.type()) {
          case StructType struct -> new GroupType(repetition, field.name(), of(struct));
          case ListType list ->
              Types.list(repetition).element(of(list.fields().getFirst())).named(field.name());
          case MapType map ->
              Types.map(repetition)
                  .key(of(map.fields().getFirst()))
                  .value(of(map.fields().getLast()))
                  .named(field.name());
          default -> primitive(field.type(), repetition, field.name());
        };
    return column.withId(field.fieldId());
  }

  private static org.apache.parquet.schema.Type primitive(
      Type type, Repetition repetition, String name) {
    return switch (type.typeId()) {
      case BOOLEAN -> Types.primitive(PrimitiveTypeName.BOOLEAN, repetition).named(name);
      case INTEGER -> Types.primitive(PrimitiveTypeName.INT32, repetition).named(name);
      case LONG -> Types.primitive(PrimitiveTypeName.INT64, repetition).named(name);
      case FLOAT -> Types.primitive(PrimitiveTypeName.FLOAT, repetition).named(name);
      case DOUBLE -> Types.primitive(PrimitiveTypeName.DOUBLE, repetition).named(name);
      case BINARY -> Types.primitive(PrimitiveTypeName.BINARY, repetition).named(name);
      case STRING ->
          Types.primitive(PrimitiveTypeName.BINARY, repetition)
              .as(LogicalTypeAnnotation.stringType())
              .named(name);
      case TIMESTAMP ->
          Types.primitive(PrimitiveTypeName.INT64, repetition)
              .as(LogicalTypeAnnotation.timestampType(true, TimeUnit.MICROS))
              .named(name);
      default -> throw new IllegalArgumentException("a column %s of %s".formatted(name, type));
    };
  }
}
