package firstlight.feedback;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import firstlight.lake.LakeKind;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/**
 * The columns of a kind: first those of every Event, then one for each field of its body, named and
 * nested as in events.proto. So a field that is added there becomes a column here.
 *
 * <p>A text that is empty on the wire is null here. An unsigned 32-bit number is an INT64.
 */
final class ParquetLayout {
  static final String EVENT_ID = "event_id";
  static final String SCHEMA = "event_schema";
  static final String TIME = "time";
  static final String TENANT = "tenant";
  static final String NODE = "node";
  static final String PARTITION = "kafka_partition";
  static final String OFFSET = "kafka_offset";

  /** How many columns come before those of the body. */
  static final int COMMON = 7;

  private ParquetLayout() {}

  static MessageType of(LakeKind kind) {
    List<Type> columns = new ArrayList<>();
    columns.add(text().named(EVENT_ID));
    columns.add(Types.required(PrimitiveTypeName.INT32).named(SCHEMA));
    columns.add(
        Types.optional(PrimitiveTypeName.INT64)
            .as(LogicalTypeAnnotation.timestampType(true, TimeUnit.MILLIS))
            .named(TIME));
    columns.add(text().named(TENANT));
    columns.add(text().named(NODE));
    columns.add(Types.required(PrimitiveTypeName.INT32).named(PARTITION));
    columns.add(Types.required(PrimitiveTypeName.INT64).named(OFFSET));
    columns.addAll(fields(kind.prototype().getDescriptorForType()));
    return new MessageType(kind.word(), columns);
  }

  /** Whether a missing value is null in the column. */
  static boolean nullable(FieldDescriptor field) {
    return field.hasPresence() || field.getJavaType() == FieldDescriptor.JavaType.STRING;
  }

  private static Types.PrimitiveBuilder<org.apache.parquet.schema.PrimitiveType> text() {
    return Types.required(PrimitiveTypeName.BINARY).as(LogicalTypeAnnotation.stringType());
  }

  private static List<Type> fields(Descriptor message) {
    return message.getFields().stream().map(ParquetLayout::column).toList();
  }

  private static Type column(FieldDescriptor field) {
    if (field.isMapField()) {
      Type key =
          type(field.getMessageType().findFieldByName("key"), "key", Type.Repetition.REQUIRED);
      Type value =
          type(field.getMessageType().findFieldByName("value"), "value", Type.Repetition.OPTIONAL);
      return Types.requiredMap().key(key).value(value).named(field.getName());
    }
    if (field.isRepeated()) {
      return Types.requiredList()
          .element(type(field, "element", Type.Repetition.REQUIRED))
          .named(field.getName());
    }
    return type(
        field,
        field.getName(),
        nullable(field) ? Type.Repetition.OPTIONAL : Type.Repetition.REQUIRED);
  }

  private static Type type(FieldDescriptor field, String name, Type.Repetition repetition) {
    return switch (field.getType()) {
      case STRING, ENUM ->
          Types.primitive(PrimitiveTypeName.BINARY, repetition)
              .as(LogicalTypeAnnotation.stringType())
              .named(name);
      case BYTES -> Types.primitive(PrimitiveTypeName.BINARY, repetition).named(name);
      case BOOL -> Types.primitive(PrimitiveTypeName.BOOLEAN, repetition).named(name);
      case FLOAT -> Types.primitive(PrimitiveTypeName.FLOAT, repetition).named(name);
      case DOUBLE -> Types.primitive(PrimitiveTypeName.DOUBLE, repetition).named(name);
      case INT32, SINT32, SFIXED32 ->
          Types.primitive(PrimitiveTypeName.INT32, repetition).named(name);
      case UINT32, FIXED32, INT64, SINT64, SFIXED64, UINT64, FIXED64 ->
          Types.primitive(PrimitiveTypeName.INT64, repetition).named(name);
      case MESSAGE, GROUP ->
          Types.buildGroup(repetition)
              .addFields(fields(field.getMessageType()).toArray(Type[]::new))
              .named(name);
    };
  }
}
