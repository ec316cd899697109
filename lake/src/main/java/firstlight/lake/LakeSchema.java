package firstlight.lake;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.apache.parquet.schema.MessageType;

/**
 * The columns of a kind: first those of every Event, then one for each field of its body, named and
 * nested as in events.proto. So a field that is added there becomes a column here.
 *
 * <p>A text that is empty on the wire is null here. An unsigned 32-bit number is a long.
 */
public final class LakeSchema {
  public static final String EVENT_ID = "event_id";
  public static final String SCHEMA = "event_schema";

  /** When the fact happened; null where that can not be right. */
  public static final String TIME = "time";

  public static final String TENANT = "tenant";
  public static final String NODE = "node";

  /** What belongs together and stays in order. */
  public static final String SESSION = "session";

  public static final String PARTITION = "kafka_partition";
  public static final String OFFSET = "kafka_offset";

  private int lastId;

  private LakeSchema() {}

  /** What this version writes. A table gives its columns other ids than they have here. */
  public static Schema of(LakeKind kind) {
    return of(kind.prototype().getDescriptorForType());
  }

  static Schema of(Descriptor body) {
    return new LakeSchema().schema(body);
  }

  /** Whether a missing value of the wire is null in the column. */
  public static boolean nullable(FieldDescriptor field) {
    return field.hasPresence() || field.getJavaType() == FieldDescriptor.JavaType.STRING;
  }

  /** How files of a table are laid out: its columns, with their ids, by which readers find them. */
  public static MessageType parquet(Schema table, String name) {
    return new MessageType(name, ParquetColumns.of(table.asStruct()));
  }

  private Schema schema(Descriptor body) {
    List<NestedField> columns = new ArrayList<>();
    columns.add(required(EVENT_ID, Types.StringType.get()));
    columns.add(required(SCHEMA, Types.IntegerType.get()));
    columns.add(
        NestedField.optional(TIME).withId(id()).ofType(Types.TimestampType.withZone()).build());
    columns.add(required(TENANT, Types.StringType.get()));
    columns.add(required(NODE, Types.StringType.get()));
    columns.add(NestedField.optional(SESSION).withId(id()).ofType(Types.StringType.get()).build());
    columns.add(required(PARTITION, Types.IntegerType.get()));
    columns.add(required(OFFSET, Types.LongType.get()));
    columns.addAll(fields(body));
    return new Schema(columns);
  }

  private NestedField required(String name, Type type) {
    return NestedField.required(name).withId(id()).ofType(type).build();
  }

  private List<NestedField> fields(Descriptor message) {
    return message.getFields().stream().map(this::column).toList();
  }

  private NestedField column(FieldDescriptor field) {
    return NestedField.from(required(field.getName(), type(field)))
        .isOptional(!field.isRepeated() && nullable(field))
        .build();
  }

  private Type type(FieldDescriptor field) {
    if (field.isMapField()) {
      Descriptor entry = field.getMessageType();
      return Types.MapType.ofOptional(
          id(), id(), single(entry.findFieldByName("key")), single(entry.findFieldByName("value")));
    }
    return field.isRepeated() ? Types.ListType.ofRequired(id(), single(field)) : single(field);
  }

  private Type single(FieldDescriptor field) {
    return switch (field.getType()) {
      case STRING, ENUM -> Types.StringType.get();
      case BYTES -> Types.BinaryType.get();
      case BOOL -> Types.BooleanType.get();
      case FLOAT -> Types.FloatType.get();
      case DOUBLE -> Types.DoubleType.get();
      case INT32, SINT32, SFIXED32 -> Types.IntegerType.get();
      case UINT32, FIXED32, INT64, SINT64, SFIXED64, UINT64, FIXED64 -> Types.LongType.get();
      case MESSAGE, GROUP -> Types.StructType.of(fields(field.getMessageType()));
    };
  }

  private int id() {
    return ++lastId;
  }
}
