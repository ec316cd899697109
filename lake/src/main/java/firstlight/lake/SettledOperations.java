package firstlight.lake;

import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.encryption.EncryptionManager;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.LocationProvider;
import org.jspecify.annotations.Nullable;

/**
 * A table's state, for which a lost connection is no failed commit.
 *
 * <p>Iceberg's JDBC catalog sends its update again after a connection was lost. Where the first one
 * had reached the database, the second changes nothing, is taken for a lost race, and Iceberg then
 * deletes the manifests of a snapshot that is the table's newest. So a race that seems lost is
 * looked into: a snapshot that is there was committed, whatever the answer.
 */
final class SettledOperations implements TableOperations {
  private final TableOperations table;

  SettledOperations(TableOperations table) {
    this.table = table;
  }

  @Override
  public void commit(@Nullable TableMetadata base, TableMetadata metadata) {
    try {
      table.commit(base, metadata);
    } catch (CommitFailedException e) {
      if (!committed(metadata.currentSnapshot(), e)) {
        throw e;
      }
    }
  }

  private boolean committed(@Nullable Snapshot ours, CommitFailedException failure) {
    try {
      TableMetadata now = table.refresh();
      return ours != null && now != null && now.snapshot(ours.snapshotId()) != null;
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
      throw new CommitStateUnknownException(failure);
    }
  }

  @Override
  public TableMetadata current() {
    return table.current();
  }

  @Override
  public TableMetadata refresh() {
    return table.refresh();
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

  @Override
  public boolean requireStrictCleanup() {
    return table.requireStrictCleanup();
  }
}
