package firstlight.lake;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;

/**
 * What a table holds, from its newest snapshot alone: no data file is read.
 *
 * @param bytes of its data files
 * @param smallFiles those that are merged once there are enough
 * @param newest time of its newest Event; empty: it has none
 * @param snapshot id of the snapshot; empty: there is none yet
 * @param offsets which records of Kafka are in it
 */
public record LakeStatus(
    LakeKind kind,
    long rows,
    int files,
    long bytes,
    int smallFiles,
    Optional<Instant> newest,
    Optional<Long> snapshot,
    LakeOffsets offsets) {
  /** Looks at every table that there is. */
  public static List<LakeStatus> of(LakeCatalog catalog) {
    List<LakeStatus> all = new ArrayList<>();
    long small = catalog.config().upkeep().compaction().smallBytes();
    for (LakeKind kind : LakeKind.values()) {
      catalog.find(kind).ifPresent(table -> all.add(of(kind, table, small)));
    }
    return List.copyOf(all);
  }

  private static LakeStatus of(LakeKind kind, Table table, long smallBytes) {
    LakePlan plan = LakePlan.of(table, TimeRange.ALL);
    Optional<Snapshot> snapshot = Optional.ofNullable(table.currentSnapshot());
    int small =
        (int) plan.files().stream().filter(file -> file.fileSizeInBytes() < smallBytes).count();
    return new LakeStatus(
        kind,
        plan.rows(),
        plan.files().size(),
        plan.bytes(),
        small,
        newest(plan),
        snapshot.map(Snapshot::snapshotId),
        LakeOffsets.of(table.currentSnapshot()));
  }

  private static Optional<Instant> newest(LakePlan plan) {
    NestedField time = plan.table().schema().findField(LakeSchema.TIME);
    return plan.files().stream()
        .flatMap(file -> upperBound(file, time).stream())
        .max(Long::compare)
        .map(micros -> Instant.EPOCH.plus(micros, ChronoUnit.MICROS));
  }

  private static Optional<Long> upperBound(DataFile file, NestedField time) {
    return Optional.ofNullable(file.upperBounds())
        .map(bounds -> bounds.get(time.fieldId()))
        .map(bound -> Conversions.fromByteBuffer(Types.TimestampType.withZone(), bound));
  }
}
