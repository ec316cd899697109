package firstlight.feedback;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import firstlight.lake.LakeSchema;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.io.api.RecordConsumer;
import org.apache.parquet.schema.GroupType;
import org.jspecify.annotations.Nullable;

/**
 * Which field of a message goes into which column of a group; worked out once a file. A field
 * without a column is left out, a column without a field is null.
 */
final class MessageColumns {
  private final List<Column> columns;

  /**
   * @param index of the column in its group
   * @param inner of the messages in it; null: there are none
   */
  private record Column(FieldDescriptor field, int index, @Nullable MessageColumns inner) {
    String name() {
      return field.getName();
    }
  }

  private MessageColumns(List<Column> columns) {
    this.columns = columns;
  }

  static MessageColumns of(Descriptor message, GroupType group) {
    List<Column> columns = new ArrayList<>();
    for (FieldDescriptor field : message.getFields()) {
      if (group.containsField(field.getName())) {
        columns.add(
            new Column(
                field,
                group.getFieldIndex(field.getName()),
                inner(field, group.getType(field.getName()))));
      }
    }
    return new MessageColumns(List.copyOf(columns));
  }

  private static @Nullable MessageColumns inner(
      FieldDescriptor field, org.apache.parquet.schema.Type type) {
    if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE) {
      return null;
    }
    GroupType group = type.asGroupType();
    if (field.isMapField()) {
      group = group.getType(0).asGroupType();
    } else if (field.isRepeated()) {
      group = group.getType(0).asGroupType().getType(0).asGroupType();
    }
    return of(field.getMessageType(), group);
  }

  /** Writes the fields into the group that is open. */
  void write(Message message, RecordConsumer out) {
    for (Column column : columns) {
      FieldDescriptor field = column.field;
      if (!field.isRepeated() && absent(message, field)) {
        continue;
      }
      Object value = message.getField(field);
      out.startField(column.name(), column.index);
      if (field.isMapField()) {
        repeated(column, "key_value", (List<?>) value, out);
      } else if (field.isRepeated()) {
        repeated(column, "list", (List<?>) value, out);
      } else {
        value(column, value, out);
      }
      out.endField(column.name(), column.index);
    }
  }

  private static boolean absent(Message message, FieldDescriptor field) {
    if (field.hasPresence()) {
      return !message.hasField(field);
    }
    return LakeSchema.nullable(field) && message.getField(field).equals("");
  }

  private static void repeated(Column column, String name, List<?> values, RecordConsumer out) {
    out.startGroup();
    if (!values.isEmpty()) {
      out.startField(name, 0);
      for (Object value : values) {
        if (column.field.isMapField()) {
          value(column, value, out);
        } else {
          out.startGroup();
          out.startField("element", 0);
          value(column, value, out);
          out.endField("element", 0);
          out.endGroup();
        }
      }
      out.endField(name, 0);
    }
    out.endGroup();
  }

  private static void value(Column column, Object value, RecordConsumer out) {
    switch (column.field.getType()) {
      case STRING -> out.addBinary(Binary.fromString((String) value));
      case ENUM -> out.addBinary(Binary.fromString(((EnumValueDescriptor) value).getName()));
      case BYTES -> out.addBinary(Binary.fromConstantByteArray(((ByteString) value).toByteArray()));
      case BOOL -> out.addBoolean((Boolean) value);
      case FLOAT -> out.addFloat((Float) value);
      case DOUBLE -> out.addDouble((Double) value);
      case INT32, SINT32, SFIXED32 -> out.addInteger((Integer) value);
      case UINT32, FIXED32 -> out.addLong(Integer.toUnsignedLong((Integer) value));
      case INT64, SINT64, SFIXED64, UINT64, FIXED64 -> out.addLong((Long) value);
      case MESSAGE, GROUP -> {
        out.startGroup();
        if (column.inner != null) {
          column.inner.write((Message) value, out);
        }
        out.endGroup();
      }
    }
  }
}
