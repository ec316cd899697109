package firstlight.lake;

import io.micrometer.core.instrument.MeterRegistry;

/** The upkeep's numbers, each by the kind of the table. */
final class UpkeepMetrics {
  private static final String COMPACTION = "firstlight.lake.compaction.";
  private static final String UPKEEP = "firstlight.lake.upkeep.";

  private final MeterRegistry registry;

  UpkeepMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  void merged(LakeKind kind, Merging merging) {
    count(COMPACTION + "files.replaced", kind, merging.filesBefore());
    count(COMPACTION + "files.written", kind, merging.filesAfter());
    count(COMPACTION + "bytes.read", kind, merging.bytesBefore());
    count(COMPACTION + "bytes.written", kind, merging.bytesAfter());
    count(COMPACTION + "rows", kind, merging.rows());
    count(COMPACTION + "repeats", kind, merging.repeats());
    count(COMPACTION + "given.up", kind, merging.givenUp());
  }

  void expired(LakeKind kind, Expiry.Expired expired) {
    count(UPKEEP + "snapshots.expired", kind, expired.snapshots());
    count(UPKEEP + "objects.deleted", kind, expired.objects());
  }

  void orphans(LakeKind kind, long objects) {
    count(UPKEEP + "orphans.deleted", kind, objects);
  }

  /**
   * @param step what failed, and is tried again by the next run: merge, expire, orphans
   */
  void failed(LakeKind kind, String step) {
    registry.counter(UPKEEP + "errors", "kind", kind.word(), "step", step).increment();
  }

  private void count(String name, LakeKind kind, long amount) {
    registry.counter(name, "kind", kind.word()).increment(amount);
  }
}
