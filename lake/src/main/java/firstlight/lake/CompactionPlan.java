package firstlight.lake;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.iceberg.DataFile;
import org.jspecify.annotations.Nullable;

/**
 * Which files of a table are worth merging. It only decides.
 *
 * <p>Files of one day go together, the smallest first. While a day may still get many files, a file
 * that is larger than all that would be merged with it stays as it is: so a row is written again a
 * few times, not every time. A day that is over is made tidy once and for all.
 */
final class CompactionPlan {
  private static final int FEWEST = 2;

  private final UpkeepConfig.Compaction limits;
  private final long today;

  private CompactionPlan(UpkeepConfig.Compaction limits, long today) {
    this.limits = limits;
    this.today = today;
  }

  /**
   * Files that become one.
   *
   * @param day since 1970; null: of the rows without a time
   */
  record Group(@Nullable Integer day, List<DataFile> files) {
    Group {
      files = List.copyOf(files);
    }

    long bytes() {
      return files.stream().mapToLong(DataFile::fileSizeInBytes).sum();
    }

    long rows() {
      return files.stream().mapToLong(DataFile::recordCount).sum();
    }
  }

  /**
   * Chooses the groups, those with the most files first.
   *
   * @param files all of a table, partitioned by day
   * @param today days since 1970, in UTC
   */
  static List<Group> choose(List<DataFile> files, UpkeepConfig.Compaction limits, long today) {
    CompactionPlan plan = new CompactionPlan(limits, today);
    return files.stream()
        .filter(file -> file.fileSizeInBytes() < limits.smallBytes())
        .collect(
            Collectors.groupingBy(
                CompactionPlan::day,
                () -> new TreeMap<>(Comparator.comparing(day -> day.orElse(Integer.MAX_VALUE))),
                Collectors.toList()))
        .entrySet()
        .stream()
        .flatMap(day -> plan.ofDay(day.getKey().orElse(null), day.getValue()).stream())
        .sorted(Comparator.comparing((Group group) -> group.files().size()).reversed())
        .limit(limits.mergesMax())
        .toList();
  }

  private static Optional<Integer> day(DataFile file) {
    return Optional.ofNullable(file.partition().get(0, Integer.class));
  }

  private List<Group> ofDay(@Nullable Integer day, List<DataFile> small) {
    List<DataFile> sorted =
        small.stream()
            .sorted(
                Comparator.comparing(DataFile::fileSizeInBytes).thenComparing(DataFile::location))
            .toList();
    List<Group> groups = new ArrayList<>();
    List<DataFile> open = new ArrayList<>();
    long bytes = 0;
    for (DataFile file : sorted) {
      boolean full =
          open.size() == limits.filesMax() || bytes + file.fileSizeInBytes() > limits.targetBytes();
      if (full && open.size() >= FEWEST) {
        groups.add(new Group(day, open));
        open.clear();
        bytes = 0;
      }
      open.add(file);
      bytes += file.fileSizeInBytes();
    }
    rest(day, open).ifPresent(groups::add);
    return groups;
  }

  /** What did not fill a whole file. */
  private Optional<Group> rest(@Nullable Integer day, List<DataFile> open) {
    if (day != null && day < today) {
      return open.size() < FEWEST ? Optional.empty() : Optional.of(new Group(day, open));
    }
    List<DataFile> alike = new ArrayList<>(open);
    while (alike.size() >= limits.filesMin() && lastIsLargerThanAllOthers(alike)) {
      alike.removeLast();
    }
    return alike.size() < limits.filesMin() ? Optional.empty() : Optional.of(new Group(day, alike));
  }

  private static boolean lastIsLargerThanAllOthers(List<DataFile> sorted) {
    long bytes = sorted.stream().mapToLong(DataFile::fileSizeInBytes).sum();
    return 2 * sorted.getLast().fileSizeInBytes() > bytes;
  }
}
