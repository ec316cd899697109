package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.lake.LakeFile.Bounds;
import firstlight.lake.LakeOffsets.Batch;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.S3Client;

/** Each batch once, whoever appends it how often. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LakeCommitsTest {
  private static final LocalDate DAY = LocalDate.of(2026, 11, 29);
  private static final long NOON = (DAY.toEpochDay() * 24 + 12) * 3_600_000_000L;

  private EmbeddedLake lake;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    lake = new EmbeddedLake(folder);
    try (S3Client client = LakeS3.client(lake.config("any").s3())) {
      LakeS3.prepare(client, lake.config("any").s3());
    }
  }

  @AfterAll
  void stop() throws Exception {
    lake.close();
  }

  @Test
  void a_batch_that_is_appended_again_is_there_once() throws Exception {
    try (LakeCatalog catalog = LakeCatalog.open(lake.config("again"))) {
      LakeCommits commits = new LakeCommits(catalog);

      assertThat(append(commits, 0, 0, 10)).isTrue();
      assertThat(append(commits, 0, 0, 10)).isFalse();
      assertThat(append(commits, 0, 10, 20)).isTrue();
      assertThat(append(commits, 1, 0, 10)).isTrue();
      assertThat(append(commits, 0, 0, 10)).isFalse();

      assertThat(files(catalog)).hasSize(3).doesNotHaveDuplicates();
    }
  }

  @Test
  void a_batch_of_which_a_part_is_there_is_refused() throws Exception {
    try (LakeCatalog catalog = LakeCatalog.open(lake.config("part"))) {
      LakeCommits commits = new LakeCommits(catalog);
      append(commits, 0, 0, 10);

      assertThatThrownBy(() -> append(commits, 0, 5, 15)).isInstanceOf(IllegalStateException.class);

      assertThat(files(catalog)).hasSize(1);
    }
  }

  @Test
  void committers_that_race_append_everything_once() throws Exception {
    LakeConfig config = lake.config("race");
    int batches = 10;
    List<Future<Integer>> appended;
    try (LakeCatalog one = LakeCatalog.open(config);
        LakeCatalog two = LakeCatalog.open(config);
        ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Callable<Integer>> racers = new ArrayList<>();
      for (LakeCatalog catalog : List.of(one, two)) {
        LakeCommits commits = new LakeCommits(catalog);
        // Both have partition 0, as after a rebalance; one has a partition of its own besides.
        racers.add(() -> appendAll(commits, 0, batches));
        racers.add(() -> appendAll(commits, catalog == one ? 1 : 2, batches));
      }
      appended = threads.invokeAll(racers);
      assertThat(appended.get(0).get() + appended.get(2).get()).isEqualTo(batches);
      assertThat(files(one)).hasSize(3 * batches).doesNotHaveDuplicates();
    }
  }

  private static int appendAll(LakeCommits commits, int partition, int batches) {
    int appended = 0;
    for (int i = 0; i < batches; i++) {
      appended += append(commits, partition, i * 10L, i * 10L + 10) ? 1 : 0;
    }
    return appended;
  }

  @Test
  void a_commit_whose_answer_is_lost_is_found() throws Exception {
    LakeConfig config = lake.config("lost");
    // A database that makes the change and loses the connection before it can say so: what the
    // driver then does, and what Iceberg does, is theirs.
    try (LakeCatalog catalog = LakeCatalog.open(config)) {
      LakeCommits commits = new LakeCommits(catalog);
      append(commits, 0, 0, 10);
      try (CuttingProxy proxy = new CuttingProxy(lake.postgresPort());
          LakeCatalog far = LakeCatalog.open(lake.config("lost", proxy.port()))) {
        LakeCommits theirs = new LakeCommits(far);
        far.table(LakeKind.RESPONSE);
        proxy.cutAfterUpdate();
        try {
          append(theirs, 0, 10, 20);
        } catch (RuntimeException e) {
          append(theirs, 0, 10, 20);
        }
        assertThat(proxy.cuts()).isEqualTo(1);
      }
      assertThat(append(commits, 0, 10, 20)).isFalse();
      assertThat(files(catalog)).hasSize(2).doesNotHaveDuplicates();
    }
  }

  @Test
  void another_commit_carries_the_offsets_on_or_fails() throws Exception {
    try (LakeCatalog catalog = LakeCatalog.open(lake.config("carry"))) {
      LakeCommits commits = new LakeCommits(catalog);
      append(commits, 0, 0, 10);
      Table table = catalog.find(LakeKind.RESPONSE).orElseThrow();
      AppendFiles other = table.newAppend().appendFile(file(7, 0, 1).in(table));
      LakeCommits.carry(table, other);
      append(commits, 0, 10, 20);

      assertThatThrownBy(other::commit).isInstanceOf(CommitFailedException.class);

      table.refresh();
      AppendFiles again = table.newAppend().appendFile(file(7, 0, 1).in(table));
      LakeCommits.carry(table, again);
      again.commit();
      assertThat(append(commits, 0, 10, 20)).isFalse();
      assertThat(files(catalog)).hasSize(3);
    }
  }

  @Test
  void the_tables_say_where_a_partition_goes_on() throws Exception {
    try (LakeCatalog catalog = LakeCatalog.open(lake.config("place"))) {
      LakeCommits commits = new LakeCommits(catalog);
      assertThat(commits.place("id", 0)).isEqualTo(new LakeCommits.Place(0, 0));

      append(commits, 0, 0, 10);
      append(commits, 0, 10, 20);
      commits.append(LakeKind.ERROR, "id", 0, new Batch(0, 10), List.of(file(0, 0, 10)));

      assertThat(commits.place("id", 0)).isEqualTo(new LakeCommits.Place(10, 20));
      assertThat(commits.place("other", 0)).isEqualTo(new LakeCommits.Place(0, 0));
    }
  }

  @Test
  void a_query_for_a_day_or_a_time_leaves_the_other_files_out() throws Exception {
    try (LakeCatalog catalog = LakeCatalog.open(lake.config("pruned"))) {
      LakeCommits commits = new LakeCommits(catalog);
      Table table = catalog.table(LakeKind.RESPONSE);
      LakeFile sane = file(0, 0, 10);
      LakeFile insane =
          new LakeFile("s3://lake/x", 1, 1, null, null, new Bounds(0, 0), new Bounds(1, 1));
      commits.append(LakeKind.RESPONSE, "id", 0, new Batch(0, 20), List.of(sane, insane));
      table.refresh();

      assertThat(planned(table, Expressions.greaterThanOrEqual("time", NOON))).hasSize(1);
      assertThat(planned(table, Expressions.greaterThan("time", NOON + 1))).isEmpty();
      assertThat(planned(table, Expressions.lessThan("kafka_offset", 1))).hasSize(1);
      assertThat(planned(table, Expressions.isNull("time"))).hasSize(1);
      assertThat(planned(table, Expressions.alwaysTrue())).hasSize(2);
    }
  }

  private static boolean append(LakeCommits commits, int partition, long first, long next) {
    return commits.append(
        LakeKind.RESPONSE,
        "id",
        partition,
        new Batch(first, next),
        List.of(file(partition, first, next)));
  }

  private static LakeFile file(int partition, long first, long next) {
    return new LakeFile(
        "s3://lake/files/%d-%d.parquet".formatted(partition, first),
        next - first,
        1000,
        DAY,
        new Bounds(NOON, NOON + 1),
        new Bounds(partition, partition),
        new Bounds(first, next - 1));
  }

  private static List<String> files(LakeCatalog catalog) throws Exception {
    return planned(catalog.find(LakeKind.RESPONSE).orElseThrow(), Expressions.alwaysTrue());
  }

  private static List<String> planned(Table table, org.apache.iceberg.expressions.Expression filter)
      throws Exception {
    List<String> files = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().filter(filter).planFiles()) {
      tasks.forEach(task -> files.add(name(task.file())));
    }
    return files;
  }

  private static String name(DataFile file) {
    return file.location();
  }
}
