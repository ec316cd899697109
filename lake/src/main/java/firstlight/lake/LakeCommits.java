package firstlight.lake;

import firstlight.lake.LakeOffsets.Batch;
import java.util.List;
import java.util.Objects;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotUpdate;
import org.apache.iceberg.Table;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.jspecify.annotations.Nullable;

/**
 * Appends batches to the tables, each once, whoever tries how often. Blocks: for worker threads
 * only; may be shared by them. Fails as {@link LakeCatalog} does; then the append may have been
 * made, and trying again tells.
 *
 * <p>Each snapshot says which records it holds ({@link LakeOffsets}). An append looks at the newest
 * one, does nothing when its batch is there, and is committed only if that snapshot is still the
 * newest at that moment; else it looks again.
 */
public final class LakeCommits {
  /** Each failed attempt means that another commit went through. */
  private static final int ATTEMPTS = 50;

  private final LakeCatalog catalog;

  public LakeCommits(LakeCatalog catalog) {
    this.catalog = catalog;
  }

  /**
   * What the tables say about a partition.
   *
   * @param first where the newest batch begins: all before it is in all tables; 0 when there is
   *     none
   * @param next the smallest end of a batch that is after {@code first}: the batch that begins
   *     there is in some table already, and must end there again; 0 when there is none
   */
  public record Place(long first, long next) {}

  /** Looks at the newest snapshots of all tables. */
  public Place place(String topicId, int partition) {
    List<Batch> batches =
        List.of(LakeKind.values()).stream()
            .map(kind -> offsets(kind).last(topicId, partition))
            .filter(Objects::nonNull)
            .toList();
    long first = batches.stream().mapToLong(Batch::first).max().orElse(0);
    long next =
        batches.stream().mapToLong(Batch::next).filter(each -> each > first).min().orElse(0);
    return new Place(first, next);
  }

  private LakeOffsets offsets(LakeKind kind) {
    Table table = catalog.table(kind);
    synchronized (table) {
      table.refresh();
      return LakeOffsets.of(table.currentSnapshot());
    }
  }

  /**
   * Appends the files of a batch.
   *
   * @return false: they were there already
   * @throws IllegalStateException a part of the batch is there: it must be read again, and end
   *     where {@link #place} says
   */
  public boolean append(
      LakeKind kind, String topicId, int partition, Batch batch, List<LakeFile> files) {
    Table table = catalog.table(kind);
    synchronized (table) {
      for (int attempt = 1; ; attempt++) {
        table.refresh();
        LakeOffsets there = LakeOffsets.of(table.currentSnapshot());
        Batch last = there.last(topicId, partition);
        if (last != null && last.next() >= batch.next()) {
          return false;
        }
        if (last != null && last.next() > batch.first()) {
          throw new IllegalStateException(
              "%s has %s of partition %d, and so a part of %s"
                  .formatted(kind.table(), last, partition, batch));
        }
        AppendFiles append = table.newAppend();
        files.forEach(file -> append.appendFile(file.in(table)));
        set(append, table.currentSnapshot(), there.with(topicId, partition, batch));
        try {
          append.commit();
          return true;
        } catch (CommitFailedException e) {
          if (attempt == ATTEMPTS) {
            throw e;
          }
        }
      }
    }
  }

  /**
   * Lets another commit, a compaction's say, carry the offsets on: without them the sink would
   * append again what is there. Call it after {@code table.refresh()} and before the commit, which
   * fails with a CommitFailedException when there is a newer snapshot by then; refresh and begin
   * again.
   */
  public static void carry(Table table, SnapshotUpdate<?> update) {
    set(update, table.currentSnapshot(), LakeOffsets.of(table.currentSnapshot()));
  }

  private static void set(SnapshotUpdate<?> update, @Nullable Snapshot seen, LakeOffsets offsets) {
    update.set(LakeOffsets.PROPERTY, offsets.json());
    // Iceberg looks for a newer snapshot by itself before it commits, and would build on that one.
    update.validateWith(
        ancestry -> {
          var newest = ancestry.iterator();
          if (!Objects.equals(id(newest.hasNext() ? newest.next() : null), id(seen))) {
            throw new CommitFailedException("another commit was faster");
          }
          return true;
        });
  }

  private static @Nullable Long id(@Nullable Snapshot snapshot) {
    return snapshot == null ? null : snapshot.snapshotId();
  }
}
