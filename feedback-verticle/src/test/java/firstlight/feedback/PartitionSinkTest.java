package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.LakeCommits;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.kafka.client.common.TopicPartition;
import io.vertx.kafka.client.producer.KafkaProducer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What can go wrong between the lake and the group, one step at a time. */
final class PartitionSinkTest {
  private static final TopicPartition PARTITION = new TopicPartition("t", 0);
  private static final FeedbackConfig.Files LIMITS =
      new FeedbackConfig.Files(10, 1 << 20, Duration.ofHours(1), 4, 1 << 20);

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final FakeOffsets offsets = new FakeOffsets();
  private final MockProducer<byte[], byte[]> dead =
      new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());
  private final FolderTables tables = new FolderTables();
  @TempDir private Path folder;
  private FolderLake lake;
  private PartitionSink sink;

  @BeforeEach
  void open() throws IOException {
    lake = new FolderLake(Files.createDirectory(folder.resolve("lake")));
    Path spool = Files.createDirectory(folder.resolve("spool"));
    PartitionSink.Parts parts =
        new PartitionSink.Parts(
            vertx,
            Time.system(),
            vertx.createSharedWorkerExecutor("lake", 2),
            new LakeUpload(lake, tables, spool),
            tables::schema,
            new DeadLetters(
                KafkaProducer.<byte[], byte[]>create(vertx, dead).exceptionHandler(_ -> {}),
                "t.dead"),
            offsets,
            new FeedbackMetrics(new SimpleMeterRegistry()),
            LIMITS,
            spool);
    sink = new PartitionSink(PARTITION, "id", parts);
  }

  @AfterEach
  void close() {
    LakeTrial.await(vertx.close());
  }

  @Test
  void a_full_batch_is_committed_after_its_files_are_there() throws IOException {
    offer(0, 10);

    until(() -> offsets.commits.equals(List.of(10L)));
    assertThat(lake.names()).containsExactly("_cuts/id/" + stem(0), file(0));
    assertThat(tables.appended).containsExactly("responses 0-10");
  }

  @Test
  void a_commit_whose_answer_is_lost_is_asked_for_again_and_uploads_nothing_again()
      throws IOException {
    offsets.answersLost = 1;
    offer(0, 10);

    until(() -> offsets.commits.equals(List.of(10L, 10L)));
    offer(10, 10);

    until(() -> offsets.commits.equals(List.of(10L, 10L, 20L)));
    assertThat(lake.names()).filteredOn(name -> name.startsWith("kind")).hasSize(2);
  }

  @Test
  void a_member_that_was_away_goes_on_where_the_others_are() throws IOException {
    offsets.committed = 55;
    offer(0, 10);

    until(() -> offsets.seeks.equals(List.of(55L)));
    assertThat(lake.names()).isEmpty();
    offer(55, 10);
    until(() -> offsets.commits.equals(List.of(65L)));
  }

  @Test
  void a_batch_that_somebody_ended_elsewhere_is_read_again_and_ends_there() throws IOException {
    lake.create("_cuts/id/" + stem(0), "3".getBytes(StandardCharsets.US_ASCII));

    offer(0, 10);

    until(() -> offsets.commits.equals(List.of(4L)));
  }

  @Test
  void a_sink_goes_on_where_the_tables_are_when_the_group_has_forgotten() throws IOException {
    tables.place = new LakeCommits.Place(50, 57);
    offer(0, 10);

    until(() -> offsets.seeks.equals(List.of(50L)));
    offer(50, 15);

    until(() -> offsets.commits.equals(List.of(57L)));
    assertThat(tables.appended).as("what ended there before ends there again").hasSize(1);
    offer(65, 5);
    until(() -> offsets.commits.equals(List.of(57L, 67L)));
    assertThat(tables.appended).containsExactly("responses 50-57", "responses 57-67");
  }

  @Test
  void the_wait_of_the_oldest_event_and_the_lag_end_when_all_is_in_the_lake() {
    run(sink::tick);
    until(sink::idle);
    assertThat(sink.waitSeconds()).isZero();
    offer(0, 5);
    until(() -> !sink.working());
    assertThat(sink.idle()).isFalse();
    assertThat(sink.waitSeconds()).isPositive();
    run(() -> sink.passed(7));
    assertThat(sink.next()).isZero();

    offer(5, 5);
    until(sink::idle);
    run(() -> sink.passed(12));

    assertThat(sink.waitSeconds()).isZero();
    assertThat(sink.next()).isEqualTo(12);
  }

  @Test
  void a_cut_that_appears_meanwhile_sends_the_sink_back() throws IOException {
    offer(0, 5);
    until(() -> !sink.working());
    lake.create("_cuts/id/" + stem(0), "3".getBytes(StandardCharsets.US_ASCII));
    offer(5, 5);

    until(() -> offsets.seeks.equals(List.of(0L)));
    assertThat(lake.names()).filteredOn(name -> name.startsWith("kind")).isEmpty();
    offer(0, 10);

    until(() -> offsets.commits.equals(List.of(4L)));
  }

  @Test
  void nothing_is_committed_before_the_poison_is_buried() {
    run(
        () ->
            sink.offer(
                LongStream.range(0, 10)
                    .mapToObj(offset -> new ConsumerRecord<>("t", 0, offset, NONE, NONE))
                    .toList()));
    until(() -> dead.history().size() == 10);
    assertThat(offsets.commits).isEmpty();

    LongStream.range(0, 10).forEach(_ -> dead.completeNext());

    until(() -> offsets.commits.equals(List.of(10L)));
  }

  @Test
  void a_disk_that_takes_nothing_is_waited_for_and_the_records_are_read_again() throws IOException {
    Path spool = folder.resolve("spool");
    Files.delete(spool);
    offer(0, 10);
    until(() -> offsets.seeks.contains(0L));
    assertThat(lake.names()).isEmpty();

    Files.createDirectory(spool);
    offer(0, 10);

    until(() -> offsets.commits.equals(List.of(10L)));
    assertThat(lake.names()).contains(file(0));
  }

  @Test
  void a_drain_brings_what_is_open_into_the_lake() throws IOException {
    offer(0, 3);
    until(() -> !sink.working());
    assertThat(offsets.commits).isEmpty();

    Promise<Void> drained = Promise.promise();
    run(() -> sink.drain().onComplete(drained));
    LakeTrial.await(drained.future());

    assertThat(offsets.commits).containsExactly(3L);
    assertThat(lake.names()).contains(file(0));
  }

  @Test
  void a_partition_that_was_taken_away_is_not_committed_and_leaves_no_spool() throws IOException {
    offer(0, 3);
    until(() -> !sink.working());

    run(sink::discard);
    offer(3, 10);

    until(() -> files(folder.resolve("spool")) == 0);
    assertThat(offsets.commits).isEmpty();
    assertThat(lake.names()).isEmpty();
  }

  private static final byte[] NONE = new byte[0];

  private static String stem(long first) {
    return "t-0-%020d".formatted(first);
  }

  private static String file(long first) {
    return "kind=response/date=2026-11-29/%s.parquet".formatted(stem(first));
  }

  private static long files(Path folder) {
    String[] names = folder.toFile().list();
    return names == null ? 0 : names.length;
  }

  private void offer(long first, int count) {
    List<ConsumerRecord<byte[], byte[]>> records =
        LongStream.range(first, first + count)
            .mapToObj(
                offset ->
                    new ConsumerRecord<>(
                        "t", 0, offset, NONE, TestEvents.response((int) offset).toByteArray()))
            .toList();
    run(() -> sink.offer(records));
  }

  /** On the sink's event loop; returns when it is done. */
  private void run(Runnable action) {
    Promise<Void> done = Promise.promise();
    context.runOnContext(
        _ -> {
          action.run();
          done.complete();
        });
    LakeTrial.await(done.future());
  }

  private void until(BooleanSupplier holds) {
    Promise<Void> held = Promise.promise();
    context.runOnContext(_ -> look(holds, held));
    LakeTrial.await(held.future());
  }

  private void look(BooleanSupplier holds, Promise<Void> held) {
    if (holds.getAsBoolean()) {
      held.complete();
    } else {
      vertx.setTimer(5, _ -> look(holds, held));
    }
  }

  private static final class FakeOffsets implements Offsets {
    private final List<Long> commits = new ArrayList<>();
    private final List<Long> seeks = new ArrayList<>();
    private long committed;
    private int answersLost;

    @Override
    public Future<Long> committed(TopicPartition partition) {
      return Future.succeededFuture(committed);
    }

    @Override
    public Future<Void> commit(TopicPartition partition, long next) {
      commits.add(next);
      committed = next;
      return answersLost-- > 0 ? Future.failedFuture("lost") : Future.succeededFuture();
    }

    @Override
    public Future<Void> seek(TopicPartition partition, long offset) {
      seeks.add(offset);
      return Future.succeededFuture();
    }
  }
}
