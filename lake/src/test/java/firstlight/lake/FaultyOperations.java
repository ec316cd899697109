package firstlight.lake;

import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.encryption.EncryptionManager;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.LocationProvider;
import org.jspecify.annotations.Nullable;

/** A table's state, in which something happens at a moment that a test chooses. */
final class FaultyOperations implements TableOperations {
  private final TableOperations table;
  private Runnable beforeRefresh = () -> {};
  private Runnable beforeCommit = () -> {};
  private Runnable afterCommit = () -> {};
  private int refreshes;

  private FaultyOperations(TableOperations table) {
    this.table = table;
  }

  static FaultyOperations of(Table table) {
    return new FaultyOperations(((BaseTable) table).operations());
  }

  Table table() {
    return new BaseTable(this, "faulty");
  }

  /** Once, before the look at the newest state that has this number, from 1. */
  FaultyOperations beforeRefresh(int number, Runnable fault) {
    refreshes = 0;
    beforeRefresh =
        () -> {
          if (refreshes == number) {
            fault.run();
          }
        };
    return this;
  }

  FaultyOperations beforeCommit(Runnable fault) {
    beforeCommit = fault;
    return this;
  }

  FaultyOperations afterCommit(Runnable fault) {
    afterCommit = fault;
    return this;
  }

  @Override
  public TableMetadata refresh() {
    refreshes++;
    beforeRefresh.run();
    return table.refresh();
  }

  @Override
  public void commit(@Nullable TableMetadata base, TableMetadata metadata) {
    beforeCommit.run();
    table.commit(base, metadata);
    afterCommit.run();
  }

  @Override
  public TableMetadata current() {
    return table.current();
  }

  @Override
  public FileIO io() {
    return table.io();
  }

  @Override
  public EncryptionManager encryption() {
    return table.encryption();
  }

  @Override
  public String metadataFileLocation(String name) {
    return table.metadataFileLocation(name);
  }

  @Override
  public LocationProvider locationProvider() {
    return table.locationProvider();
  }

  @Override
  public TableOperations temp(TableMetadata uncommitted) {
    return table.temp(uncommitted);
  }

  @Override
  public long newSnapshotId() {
    return table.newSnapshotId();
  }
}
