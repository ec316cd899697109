package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.lake.LakeOffsets.Batch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.Table;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.S3Client;

/** Whatever upkeep does and wherever it ends, the rows are the same and the offsets go on. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LakeUpkeepTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private EmbeddedLake services;

  @TempDir Path folder;

  @BeforeAll
  void start(@TempDir Path data) throws Exception {
    services = new EmbeddedLake(data);
    LakeConfig.S3 s3 = services.config("any").s3();
    try (S3Client client = LakeS3.client(s3)) {
      LakeS3.prepare(client, s3);
    }
  }

  @AfterAll
  void stop() throws Exception {
    services.close();
  }

  private FilledLake lake(String name) {
    return new FilledLake(FilledLake.config(services.config(name), folder), folder);
  }

  @Test
  void many_small_files_become_one_with_the_same_rows() throws Exception {
    try (FilledLake lake = lake("many")) {
      Table table = lake.catalog.table(LakeKind.RESPONSE);
      LakeRows rows = LakeRows.responses(table.schema());
      for (int partition = 0; partition < 3; partition++) {
        long first = partition * 1000;
        lake.append(LakeKind.RESPONSE, rows, partition, first, first + 100 + partition, 8);
      }
      String before = lake.read(table);

      UpkeepReport report = lake.upkeep(registry).run().orElseThrow();

      String after = lake.read(table);
      assertThat(report.failures()).isZero();
      assertThat(report.merging().filesBefore()).isEqualTo(24);
      assertThat(report.merging().filesAfter()).isEqualTo(1);
      assertThat(LakeFiles.of(table)).hasSize(1);
      for (String total :
          List.of(
              "count(*)",
              "count(DISTINCT event_id)",
              "sum(output_tokens)",
              "sum(len(generations[1].token_ids))")) {
        assertThat(FilledLake.sql("SELECT %s FROM %s", total, after))
            .isEqualTo(FilledLake.sql("SELECT %s FROM %s", total, before));
      }
      assertThat(FilledLake.difference(before, after)).isZero();
      assertThat(FilledLake.difference(after, before)).isZero();
      assertThat(counted("firstlight.lake.compaction.files.replaced", LakeKind.RESPONSE))
          .isEqualTo(24);
      assertThat(lake.upkeep(registry).run().orElseThrow()).isEqualTo(UpkeepReport.NOTHING);
    }
  }

  @Test
  void rows_without_a_time_stay_in_a_partition_of_their_own() throws Exception {
    try (FilledLake lake = lake("invalid")) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      LakeRows rows = new LakeRows(table.schema()).value(LakeSchema.TIME, "NULL");
      List<LakeFile> files = new ArrayList<>();
      for (int i = 0; i < 9; i++) {
        files.add(lake.upload(LakeKind.ERROR, rows, 0, i * 10, i * 10 + 10, null));
      }
      lake.commits.append(LakeKind.ERROR, FilledLake.TOPIC, 0, new Batch(0, 90), files);
      lake.append(LakeKind.ERROR, new LakeRows(table.schema()), 1, 0, 90, 9);

      lake.upkeep(registry).run();

      String after = lake.read(table);
      assertThat(FilledLake.sql("SELECT count(*), count(time) FROM %s", after)).isEqualTo("180 90");
      assertThat(LakeFiles.of(table))
          .extracting(file -> file.partition().get(0, Integer.class))
          .containsExactlyInAnyOrder(null, (int) FilledLake.DAY.toEpochDay());
      assertThat(LakeFiles.of(table))
          .extracting(DataFile::location)
          .anyMatch(location -> location.contains("/kind=error/date=invalid/compact-"))
          .anyMatch(location -> location.contains("/kind=error/date=2026-11-29/compact-"));
    }
  }

  @Test
  void offsets_go_on_though_an_append_comes_between_the_look_and_the_commit() throws Exception {
    try (FilledLake lake = lake("between")) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      LakeRows rows = new LakeRows(table.schema());
      appendTen(lake, rows);
      FaultyOperations faulty = FaultyOperations.of(lake.table(LakeKind.ERROR));
      CompactionPlan.Group group = group(lake, faulty.table());
      // The first look is our own, at the offsets; the second is Iceberg's.
      faulty.beforeRefresh(2, () -> lake.append(LakeKind.ERROR, rows, 0, 100, 110, 1));

      Merging merging = compactor(lake).merge(faulty.table(), group);

      assertThat(merging.filesAfter()).isEqualTo(1);
      table.refresh();
      assertThat(LakeOffsets.of(table.currentSnapshot()).last(FilledLake.TOPIC, 0))
          .isEqualTo(new Batch(100, 110));
      assertThat(FilledLake.sql("SELECT count(*) FROM %s", lake.read(table))).isEqualTo("110");
      assertThat(LakeFiles.of(table)).hasSize(2);
    }
  }

  @Test
  void appends_and_merges_at_the_same_time_lose_and_double_nothing() throws Exception {
    try (FilledLake lake = lake("traffic");
        ExecutorService sink = Executors.newSingleThreadExecutor()) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      LakeRows rows = new LakeRows(table.schema());
      int batches = 20;
      Future<?> appending =
          sink.submit(
              () -> {
                for (int i = 0; i < batches; i++) {
                  lake.append(LakeKind.ERROR, rows, 0, i * 10L, i * 10L + 10, 1);
                }
              });
      LakeUpkeep upkeep = lake.upkeep(registry);
      int merges = 0;
      while (!appending.isDone()) {
        UpkeepReport report = upkeep.run().orElseThrow();
        assertThat(report.failures()).isZero();
        merges += report.merging().filesAfter();
      }
      appending.get();

      assertThat(merges).isPositive();
      table.refresh();
      assertThat(LakeOffsets.of(table.currentSnapshot()).last(FilledLake.TOPIC, 0))
          .isEqualTo(new Batch(batches * 10 - 10, batches * 10));
      assertThat(
              FilledLake.sql("SELECT count(*), count(DISTINCT event_id) FROM %s", lake.read(table)))
          .isEqualTo("200 200");
    }
  }

  @Test
  void a_merge_of_files_that_are_gone_changes_nothing_and_leaves_nothing() throws Exception {
    try (FilledLake lake = lake("gone")) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      appendTen(lake, new LakeRows(table.schema()));
      Table other = lake.table(LakeKind.ERROR);
      CompactionPlan.Group group = group(lake, other);
      lake.upkeep(registry).run();
      List<Path> objects = objects("gone");

      Merging merging = compactor(lake).merge(other, group);

      assertThat(merging).isEqualTo(Merging.GIVEN_UP);
      assertThat(objects("gone")).containsExactlyInAnyOrderElementsOf(objects);
      assertThat(FilledLake.sql("SELECT count(*) FROM %s", lake.read(table))).isEqualTo("100");
    }
  }

  @Test
  void a_merge_whose_commit_has_no_answer_is_looked_up() throws Exception {
    try (FilledLake lake = lake("unknown")) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      appendTen(lake, new LakeRows(table.schema()));
      FaultyOperations faulty = FaultyOperations.of(lake.table(LakeKind.ERROR));
      faulty.afterCommit(
          () -> {
            throw new CommitStateUnknownException(new IOException("no answer"));
          });

      Merging merging = compactor(lake).merge(faulty.table(), group(lake, faulty.table()));

      assertThat(merging.filesBefore()).isEqualTo(10);
      assertThat(FilledLake.sql("SELECT count(*) FROM %s", lake.read(table))).isEqualTo("100");
    }
  }

  @Test
  void what_a_crash_before_the_commit_leaves_is_deleted_when_it_is_old() throws Exception {
    try (FilledLake lake = lake("crash")) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      appendTen(lake, new LakeRows(table.schema()));
      FaultyOperations faulty = FaultyOperations.of(lake.table(LakeKind.ERROR));
      faulty.beforeCommit(
          () -> {
            throw new Killed();
          });
      CompactionPlan.Group group = group(lake, faulty.table());
      assertThatThrownBy(() -> compactor(lake).merge(faulty.table(), group))
          .isInstanceOf(Killed.class);
      List<Path> left = compacted("crash");
      assertThat(left).hasSize(1);
      assertThat(FilledLake.sql("SELECT count(*) FROM %s", lake.read(table))).isEqualTo("100");

      LakeUpkeep upkeep = lake.upkeep(registry);
      upkeep.run();
      assertThat(compacted("crash")).hasSize(2).containsAll(left);

      lake.time.advance(Duration.ofHours(25));
      upkeep.run();

      assertThat(compacted("crash")).hasSize(1).doesNotContainAnyElementsOf(left);
      assertThat(FilledLake.sql("SELECT count(*) FROM %s", lake.read(table))).isEqualTo("100");
      assertThat(onlyNeeded(lake)).isTrue();
    }
  }

  @Test
  void a_reader_has_the_grace_to_end_from_when_its_snapshot_was_replaced() throws Exception {
    try (FilledLake lake = lake("reader")) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      appendTen(lake, new LakeRows(table.schema()));
      table.refresh();
      List<String> held = LakeFiles.of(table).stream().map(DataFile::location).toList();
      LakeUpkeep upkeep = lake.upkeep(registry);
      upkeep.run();

      lake.time.advance(Duration.ofMinutes(9));
      upkeep.run();
      assertThat(FilledLake.sql("SELECT count(*) FROM %s", lake.read(table, held)))
          .isEqualTo("100");

      lake.time.advance(Duration.ofMinutes(2));
      UpkeepReport report = upkeep.run().orElseThrow();

      assertThat(report.snapshots()).isEqualTo(2);
      table.refresh();
      assertThat(table.snapshots()).hasSize(1);
      assertThat(report.objects()).isGreaterThanOrEqualTo(12);
      assertThat(LakeFiles.of(table)).hasSize(1);
      assertThat(FilledLake.sql("SELECT count(*) FROM %s", lake.read(table))).isEqualTo("100");
      assertThat(Files.exists(object("reader", held.getFirst()))).isFalse();
    }
  }

  @Test
  void the_grace_does_not_begin_while_a_snapshot_is_the_newest() throws Exception {
    try (FilledLake lake = lake("grace")) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      appendTen(lake, new LakeRows(table.schema()));
      lake.upkeep(registry).run();
      table.refresh();
      long replaced = table.currentSnapshot().timestampMillis();
      Duration keep = Duration.ofMinutes(10);

      // By its own age the last append could go; but it was replaced no earlier than that.
      assertThat(
              new Expiry(LateTime.stopped(replaced + keep.toMillis()), keep)
                  .expire(table)
                  .snapshots())
          .isEqualTo(1);
      assertThat(
              new Expiry(LateTime.stopped(replaced + keep.toMillis() + 1), keep)
                  .expire(table)
                  .snapshots())
          .isEqualTo(1);
    }
  }

  @Test
  void a_file_of_the_sink_that_waits_for_its_commit_stays_however_old_it_is() throws Exception {
    try (FilledLake lake = lake("waiting")) {
      LakeRows rows = new LakeRows(lake.catalog.table(LakeKind.ERROR).schema());
      lake.append(LakeKind.ERROR, rows, 0, 0, 10, 1);
      LakeFile waiting = lake.upload(LakeKind.ERROR, rows, 0, 10, 20, FilledLake.DAY);
      LakeFile unknown = lake.upload(LakeKind.ERROR, rows, 1, 10, 20, FilledLake.DAY);
      lake.time.advance(Duration.ofDays(3));

      lake.upkeep(registry).run();

      assertThat(Files.exists(object("waiting", waiting.uri()))).isTrue();
      assertThat(Files.exists(object("waiting", unknown.uri()))).isTrue();
    }
  }

  @Test
  void only_one_is_at_it_in_the_whole_region() throws Exception {
    try (FilledLake lake = lake("two")) {
      appendTen(lake, new LakeRows(lake.catalog.table(LakeKind.ERROR).schema()));
      try (UpkeepLock held = UpkeepLock.tryTake(lake.config.catalog()).orElseThrow()) {
        assertThat(lake.upkeep(registry).run()).isEmpty();
        assertThat(UpkeepLock.tryTake(services.config("another").catalog())).isPresent();
        assertThat(held).isNotNull();
      }
      assertThat(lake.upkeep(registry).run()).isPresent();
    }
  }

  @Test
  void one_that_has_lost_the_lock_does_no_harm() throws Exception {
    try (FilledLake lake = lake("both")) {
      Table table = lake.catalog.table(LakeKind.ERROR);
      appendTen(lake, new LakeRows(table.schema()));
      FaultyOperations faulty = FaultyOperations.of(lake.table(LakeKind.ERROR));
      CompactionPlan.Group group = group(lake, faulty.table());
      // The other one takes the same files while ours are uploaded.
      faulty.beforeCommit(
          () -> {
            faulty.beforeCommit(() -> {});
            run(lake);
          });

      assertThat(compactor(lake).merge(faulty.table(), group)).isEqualTo(Merging.GIVEN_UP);

      assertThat(compacted("both")).hasSize(1);
      assertThat(FilledLake.sql("SELECT count(*) FROM %s", lake.read(table))).isEqualTo("100");
    }
  }

  private void run(FilledLake lake) {
    try {
      lake.upkeep(registry).run();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Ten files in two commits. */
  private static void appendTen(FilledLake lake, LakeRows rows) {
    lake.append(LakeKind.ERROR, rows, 0, 0, 50, 5);
    lake.append(LakeKind.ERROR, rows, 0, 50, 100, 5);
  }

  private static CompactionPlan.Group group(FilledLake lake, Table table) {
    return CompactionPlan.choose(
            LakeFiles.of(table), lake.config.upkeep().compaction(), FilledLake.DAY.toEpochDay())
        .getFirst();
  }

  private static Compactor compactor(FilledLake lake) {
    return new Compactor(lake.config.upkeep().compaction(), lake.ids);
  }

  /** As if the process ended there: nobody handles it. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  private double counted(String name, LakeKind kind) {
    return registry.get(name).tag("kind", kind.word()).counter().count();
  }

  private List<Path> objects(String lake) throws IOException {
    try (Stream<Path> files = Files.walk(services.objects(lake))) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> file.toString().endsWith(".parquet"))
          .toList();
    }
  }

  private List<Path> compacted(String lake) throws IOException {
    return objects(lake).stream()
        .filter(file -> file.getFileName().toString().startsWith("compact-"))
        .toList();
  }

  private Path object(String lake, String uri) {
    return services.objects(lake).resolve(uri.substring(uri.indexOf("kind=")));
  }

  /** Whether all objects, metadata too, are those that the table's snapshots need. */
  private boolean onlyNeeded(FilledLake lake) throws Exception {
    lake.time.advance(Duration.ofDays(2));
    return lake.upkeep(registry).run().orElseThrow().objects() == 0;
  }
}
