package firstlight.feedback;

import firstlight.lake.LakeCatalog;
import firstlight.lake.LakeCommits;
import firstlight.lake.LakeConfig;
import firstlight.lake.LakeFile;
import firstlight.lake.LakeKind;
import firstlight.lake.LakeOffsets;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.apache.iceberg.Schema;

/** The tables of the catalog. Those that are missing are made at once. */
final class IcebergTables implements LakeTables {
  private final LakeCatalog catalog;
  private final LakeCommits commits;

  private IcebergTables(LakeCatalog catalog) {
    this.catalog = catalog;
    commits = new LakeCommits(catalog);
  }

  static IcebergTables open(LakeConfig config) throws IOException {
    LakeCatalog catalog = call(() -> LakeCatalog.open(config));
    IcebergTables tables = new IcebergTables(catalog);
    try {
      for (LakeKind kind : LakeKind.values()) {
        tables.schema(kind);
      }
      return tables;
    } catch (IOException e) {
      tables.close();
      throw e;
    }
  }

  @Override
  public Schema schema(LakeKind kind) throws IOException {
    return call(() -> catalog.table(kind).schema());
  }

  @Override
  public LakeCommits.Place place(String topicId, int partition) throws IOException {
    return call(() -> commits.place(topicId, partition));
  }

  @Override
  public void append(LakeKind kind, BatchName batch, long next, List<LakeFile> files)
      throws IOException {
    LakeOffsets.Batch offsets = new LakeOffsets.Batch(batch.first(), next);
    call(() -> commits.append(kind, batch.topicId(), batch.partition(), offsets, files));
  }

  @Override
  public void close() {
    catalog.close();
  }

  /** Iceberg, its JDBC catalog and the SDK of the store have no exception in common. */
  private static <T> T call(Supplier<T> call) throws IOException {
    try {
      return call.get();
    } catch (RuntimeException e) {
      throw new IOException("Iceberg: " + e.getMessage(), e);
    }
  }
}
