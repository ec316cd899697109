package firstlight.lake;

import firstlight.protocol.Time;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ReachableFileUtil;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.io.SupportsPrefixOperations;

/**
 * Deletes objects of a table that no snapshot refers to: what a crash has left between an upload
 * and its commit, or between a commit and the deletions after it.
 *
 * <p>A file may be uploaded and its commit still to come, so that only the old ones go. And one of
 * the sink's whose Events are not in the table yet stays, however old it is: the sink may have been
 * waiting for the catalog all the while, and would commit a file that is gone.
 */
final class Orphans {
  private final Time time;
  private final Duration age;
  private final int objectsMax;

  /**
   * @param age the youngest that are deleted
   * @param objectsMax so many in one run at most
   */
  Orphans(Time time, Duration age, int objectsMax) {
    this.time = time;
    this.age = age;
    this.objectsMax = objectsMax;
  }

  /**
   * @param folders addresses that end with /; everything below them is the table's
   * @return how many were deleted
   */
  long delete(Table table, List<String> folders) {
    table.refresh();
    List<String> suspects = new ArrayList<>();
    Set<String> needed = needed(table);
    for (String folder : folders) {
      suspects(table, folder, needed, suspects);
    }
    if (suspects.isEmpty()) {
      return 0;
    }
    // What was committed since the first look is in the second.
    table.refresh();
    suspects.removeAll(needed(table));
    suspects.forEach(table.io()::deleteFile);
    return suspects.size();
  }

  private void suspects(Table table, String folder, Set<String> needed, List<String> suspects) {
    long end = time.epochMillis() - age.toMillis();
    SinkFiles uncommitted = SinkFiles.of(table);
    for (FileInfo object : ((SupportsPrefixOperations) table.io()).listPrefix(folder)) {
      if (suspects.size() == objectsMax) {
        return;
      }
      if (object.createdAtMillis() < end
          && !needed.contains(object.location())
          && !uncommitted.mayCome(object.location())) {
        suspects.add(object.location());
      }
    }
  }

  private static Set<String> needed(Table table) {
    Set<String> needed = new HashSet<>(ReachableFileUtil.metadataFileLocations(table, true));
    needed.addAll(ReachableFileUtil.statisticsFilesLocations(table));
    Set<ManifestFile> manifests = new HashSet<>();
    for (Snapshot snapshot : table.snapshots()) {
      needed.add(snapshot.manifestListLocation());
      manifests.addAll(snapshot.allManifests(table.io()));
    }
    for (ManifestFile manifest : manifests) {
      needed.add(manifest.path());
      try (CloseableIterable<String> paths =
          ManifestFiles.readPaths(manifest, table.io(), table.specs())) {
        paths.forEach(needed::add);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return needed;
  }
}
