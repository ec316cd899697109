package firstlight.feedback;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import firstlight.lake.LakeKind;
import firstlight.protocol.wire.Event;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.conf.ParquetConfiguration;
import org.apache.parquet.hadoop.api.WriteSupport;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.io.api.RecordConsumer;
import org.jspecify.annotations.NullUnmarked;

/** Writes Events of one kind as {@link ParquetLayout} lays them out. */
@NullUnmarked
final class LakeWriteSupport extends WriteSupport<LakeRow> {
  // Year 0 to 9999: readers overflow on a time far outside.
  private static final long TIME_MIN = -62_167_219_200_000L;
  private static final long TIME_MAX = 253_402_300_799_999L;

  private final LakeKind kind;
  private final Supplier<Map<String, String>> footer;
  private RecordConsumer out;

  /**
   * @param footer asked once, after the last row: what the file's footer says about it
   */
  LakeWriteSupport(LakeKind kind, Supplier<Map<String, String>> footer) {
    this.kind = kind;
    this.footer = footer;
  }

  @Override
  public WriteContext init(ParquetConfiguration configuration) {
    return new WriteContext(ParquetLayout.of(kind), Map.of());
  }

  /** Hadoop's way in, which nothing here takes. */
  @Override
  @SuppressWarnings("deprecation") // It is abstract, so it must be here.
  public WriteContext init(Configuration configuration) {
    throw new UnsupportedOperationException("Hadoop is not used");
  }

  @Override
  public FinalizedWriteContext finalizeWrite() {
    return new FinalizedWriteContext(footer.get());
  }

  @Override
  public void prepareForWrite(RecordConsumer consumer) {
    out = consumer;
  }

  @Override
  public void write(LakeRow row) {
    Event event = row.event();
    out.startMessage();
    int column = 0;
    put(ParquetLayout.EVENT_ID, column++, () -> text(event.getId()));
    put(ParquetLayout.SCHEMA, column++, () -> out.addInteger(event.getSchema()));
    if (event.getTime() >= TIME_MIN && event.getTime() <= TIME_MAX) {
      put(ParquetLayout.TIME, column, () -> out.addLong(event.getTime()));
    }
    column++;
    put(ParquetLayout.TENANT, column++, () -> text(event.getTenant()));
    put(ParquetLayout.NODE, column++, () -> text(event.getNode()));
    put(ParquetLayout.PARTITION, column++, () -> out.addInteger(row.partition()));
    put(ParquetLayout.OFFSET, column++, () -> out.addLong(row.offset()));
    fields(kind.body(event), ParquetLayout.COMMON);
    out.endMessage();
  }

  private void put(String name, int column, Runnable value) {
    out.startField(name, column);
    value.run();
    out.endField(name, column);
  }

  private void fields(Message message, int firstColumn) {
    int column = firstColumn;
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      int at = column++;
      Object value = message.getField(field);
      if (field.isMapField()) {
        put(field.getName(), at, () -> map((List<?>) value));
      } else if (field.isRepeated()) {
        put(field.getName(), at, () -> list(field, (List<?>) value));
      } else if (!absent(message, field, value)) {
        put(field.getName(), at, () -> value(field, value));
      }
    }
  }

  private static boolean absent(Message message, FieldDescriptor field, Object value) {
    return field.hasPresence() ? !message.hasField(field) : value.equals("");
  }

  private void map(List<?> entries) {
    out.startGroup();
    if (!entries.isEmpty()) {
      out.startField("key_value", 0);
      for (Object each : entries) {
        Message entry = (Message) each;
        out.startGroup();
        for (FieldDescriptor field : entry.getDescriptorForType().getFields()) {
          put(field.getName(), field.getIndex(), () -> value(field, entry.getField(field)));
        }
        out.endGroup();
      }
      out.endField("key_value", 0);
    }
    out.endGroup();
  }

  private void list(FieldDescriptor field, List<?> elements) {
    out.startGroup();
    if (!elements.isEmpty()) {
      out.startField("list", 0);
      for (Object element : elements) {
        out.startGroup();
        put("element", 0, () -> value(field, element));
        out.endGroup();
      }
      out.endField("list", 0);
    }
    out.endGroup();
  }

  private void value(FieldDescriptor field, Object value) {
    switch (field.getType()) {
      case STRING -> text((String) value);
      case ENUM -> text(((EnumValueDescriptor) value).getName());
      case BYTES -> out.addBinary(Binary.fromConstantByteArray(((ByteString) value).toByteArray()));
      case BOOL -> out.addBoolean((Boolean) value);
      case FLOAT -> out.addFloat((Float) value);
      case DOUBLE -> out.addDouble((Double) value);
      case INT32, SINT32, SFIXED32 -> out.addInteger((Integer) value);
      case UINT32, FIXED32 -> out.addLong(Integer.toUnsignedLong((Integer) value));
      case INT64, SINT64, SFIXED64, UINT64, FIXED64 -> out.addLong((Long) value);
      case MESSAGE, GROUP -> {
        out.startGroup();
        fields((Message) value, 0);
        out.endGroup();
      }
    }
  }

  private void text(String text) {
    out.addBinary(Binary.fromString(text));
  }
}
