package firstlight.lake;

import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.PartitionData;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types.NestedField;
import org.jspecify.annotations.Nullable;

/**
 * A Parquet file of the lake, as a table is told of it.
 *
 * @param uri e.g. {@code s3://bucket/events/kind=error/date=2026-11-29/…}
 * @param bytes its exact length: readers find its footer by it
 * @param day of all its rows, in UTC; null: their times can not be right, and are null
 * @param time of its rows, Unix time in microseconds; null where the day is
 * @param partitions Kafka's partitions
 */
public record LakeFile(
    String uri,
    long rows,
    long bytes,
    @Nullable LocalDate day,
    @Nullable Bounds time,
    Bounds partitions,
    Bounds offsets) {

  /** The smallest and the largest of some values. */
  public record Bounds(long min, long max) {
    public Bounds with(long value) {
      return value >= min && value <= max
          ? this
          : new Bounds(Math.min(min, value), Math.max(max, value));
    }
  }

  /** For an append to that table. */
  public DataFile in(Table table) {
    PartitionData partition = new PartitionData(table.spec().partitionType());
    partition.set(0, day == null ? null : Math.toIntExact(day.toEpochDay()));
    return DataFiles.builder(table.spec())
        .withPath(uri)
        .withFormat(FileFormat.PARQUET)
        .withPartition(partition)
        .withFileSizeInBytes(bytes)
        .withMetrics(metrics(table.schema()))
        .build();
  }

  /** Of the columns by which queries leave files out. */
  private Metrics metrics(Schema schema) {
    Map<Integer, Long> values = new HashMap<>();
    Map<Integer, Long> nulls = new HashMap<>();
    Map<Integer, ByteBuffer> lower = new HashMap<>();
    Map<Integer, ByteBuffer> upper = new HashMap<>();
    for (String name : new String[] {LakeSchema.TIME, LakeSchema.PARTITION, LakeSchema.OFFSET}) {
      NestedField field = schema.findField(name);
      Bounds bounds = bounds(name);
      values.put(field.fieldId(), rows);
      nulls.put(field.fieldId(), bounds == null ? rows : 0);
      if (bounds != null) {
        lower.put(field.fieldId(), value(field, bounds.min));
        upper.put(field.fieldId(), value(field, bounds.max));
      }
    }
    return new Metrics(rows, null, values, nulls, null, lower, upper);
  }

  private @Nullable Bounds bounds(String name) {
    return switch (name) {
      case LakeSchema.TIME -> time;
      case LakeSchema.PARTITION -> partitions;
      default -> offsets;
    };
  }

  private static ByteBuffer value(NestedField field, long value) {
    return Conversions.toByteBuffer(
        field.type(),
        field.name().equals(LakeSchema.PARTITION) ? (Object) Math.toIntExact(value) : value);
  }
}
