package firstlight.feedback;

import firstlight.lake.LakeKind;
import firstlight.lake.LakeSchema;
import firstlight.protocol.wire.Event;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.Schema;
import org.apache.parquet.conf.ParquetConfiguration;
import org.apache.parquet.hadoop.api.WriteSupport;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.io.api.RecordConsumer;
import org.apache.parquet.schema.MessageType;
import org.jspecify.annotations.NullUnmarked;

/** Writes Events of one kind as their table lays them out. */
@NullUnmarked
final class LakeWriteSupport extends WriteSupport<LakeRow> {
  private static final long MICROS = 1_000;

  private final LakeFolder folder;
  private final MessageType layout;
  private final MessageColumns body;
  private final Supplier<Map<String, String>> footer;
  private RecordConsumer out;

  /**
   * @param schema of the table
   * @param footer asked once, after the last row: what the file's footer says about it
   */
  LakeWriteSupport(LakeFolder folder, Schema schema, Supplier<Map<String, String>> footer) {
    LakeKind kind = folder.kind();
    this.folder = folder;
    this.footer = footer;
    layout = LakeSchema.parquet(schema, kind.word());
    body = MessageColumns.of(kind.prototype().getDescriptorForType(), layout);
  }

  @Override
  public WriteContext init(ParquetConfiguration configuration) {
    return new WriteContext(layout, Map.of());
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
    put(LakeSchema.EVENT_ID, event.getId());
    begin(LakeSchema.SCHEMA);
    out.addInteger(event.getSchema());
    end(LakeSchema.SCHEMA);
    if (folder.sane()) {
      put(LakeSchema.TIME, event.getTime() * MICROS);
    }
    put(LakeSchema.TENANT, event.getTenant());
    put(LakeSchema.NODE, event.getNode());
    if (!event.getSession().isEmpty()) {
      put(LakeSchema.SESSION, event.getSession());
    }
    begin(LakeSchema.PARTITION);
    out.addInteger(row.partition());
    end(LakeSchema.PARTITION);
    put(LakeSchema.OFFSET, row.offset());
    body.write(folder.kind().body(event), out);
    out.endMessage();
  }

  private void put(String name, String text) {
    begin(name);
    out.addBinary(Binary.fromString(text));
    end(name);
  }

  private void put(String name, long number) {
    begin(name);
    out.addLong(number);
    end(name);
  }

  private void begin(String name) {
    out.startField(name, layout.getFieldIndex(name));
  }

  private void end(String name) {
    out.endField(name, layout.getFieldIndex(name));
  }
}
