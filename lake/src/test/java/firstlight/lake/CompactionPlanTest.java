package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.CompactionPlan.Group;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.PartitionData;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class CompactionPlanTest {
  private static final int TODAY = 20_000;
  private static final Schema SCHEMA = LakeSchema.of(LakeKind.ERROR);
  private static final PartitionSpec SPEC =
      PartitionSpec.builderFor(SCHEMA).day(LakeSchema.TIME).build();
  private static final UpkeepConfig.Compaction LIMITS =
      new UpkeepConfig.Compaction(100, 4, 10, 400, 3, 1 << 30, 1, Path.of("none"));

  private int names;

  @Test
  void few_files_of_a_day_that_goes_on_wait_for_more() {
    assertThat(choose(files(TODAY, 10, 10, 10))).isEmpty();
    assertThat(choose(files(TODAY, 10, 10, 10, 10))).singleElement().satisfies(sized(4));
  }

  @Test
  void a_day_that_is_over_is_made_tidy() {
    assertThat(choose(files(TODAY - 1, 90, 1))).singleElement().satisfies(sized(2));
    assertThat(choose(files(TODAY - 1, 90))).isEmpty();
  }

  @Test
  void rows_without_a_time_never_have_a_day_that_is_over() {
    assertThat(choose(files(null, 10, 10, 10))).isEmpty();
    assertThat(choose(files(null, 10, 10, 10, 10))).singleElement().satisfies(sized(4));
  }

  @Test
  void large_files_are_left_alone() {
    assertThat(choose(files(TODAY - 1, 100, 5000, 10))).isEmpty();
  }

  @Test
  void days_do_not_mix() {
    List<DataFile> files = new ArrayList<>(files(TODAY - 1, 10, 10));
    files.addAll(files(TODAY - 2, 10, 10, 10));

    assertThat(choose(files)).extracting(Group::day).containsExactly(TODAY - 2, TODAY - 1);
  }

  @Test
  void what_was_merged_is_not_merged_again_with_every_small_file() {
    assertThat(choose(files(TODAY, 90, 1, 1, 1))).isEmpty();
    assertThat(choose(files(TODAY, 90, 1, 1, 1, 1)))
        .singleElement()
        .satisfies(group -> assertThat(group.bytes()).isEqualTo(4));
    assertThat(choose(files(TODAY, 90, 40, 30, 30))).singleElement().satisfies(sized(4));
  }

  @Test
  void a_group_has_its_size_and_a_run_its_number_of_groups() {
    long[] sizes = new long[60];
    Arrays.fill(sizes, 80);

    List<Group> groups = choose(files(TODAY, sizes));

    assertThat(groups).hasSize(3).allSatisfy(sized(5));
    Arrays.fill(sizes, 1);
    assertThat(choose(files(TODAY, sizes))).hasSize(3).allSatisfy(sized(10));
  }

  @Test
  void work_comes_to_an_end() {
    List<DataFile> files = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      files.addAll(files(TODAY - 1 - i % 3, 1 + i % 99));
    }
    long bytes = files.stream().mapToLong(DataFile::fileSizeInBytes).sum();
    int runs = 0;
    for (List<Group> groups = choose(files); !groups.isEmpty(); groups = choose(files)) {
      for (Group group : groups) {
        files.removeAll(group.files());
        files.addAll(files(group.day(), group.bytes()));
      }
      assertThat(runs++).isLessThan(200);
    }
    assertThat(files.stream().mapToLong(DataFile::fileSizeInBytes).sum()).isEqualTo(bytes);
    assertThat(files).hasSizeLessThan(100);
  }

  private static java.util.function.Consumer<Group> sized(int files) {
    return group -> assertThat(group.files()).hasSize(files);
  }

  private static List<Group> choose(List<DataFile> files) {
    return CompactionPlan.choose(files, LIMITS, TODAY);
  }

  private List<DataFile> files(@Nullable Integer day, long... sizes) {
    return Arrays.stream(sizes).mapToObj(size -> file(day, size)).toList();
  }

  private DataFile file(@Nullable Integer day, long bytes) {
    PartitionData partition = new PartitionData(SPEC.partitionType());
    partition.set(0, day);
    return DataFiles.builder(SPEC)
        .withPath("s3://bucket/" + names++ + ".parquet")
        .withPartition(partition)
        .withFileSizeInBytes(bytes)
        .withRecordCount(1)
        .build();
  }
}
