package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.edge.SpoolConfig.WhenFull;
import firstlight.protocol.wire.Event;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventSpoolTest {
  @TempDir Path parent;

  private final Vertx vertx = Vertx.vertx();
  private SpoolFixture trial;

  @BeforeEach
  void begin() throws Exception {
    trial = new SpoolFixture(parent, vertx, WhenFull.DETAIL);
  }

  @AfterEach
  void end() throws Exception {
    trial.reader.close();
    trial.folder.close();
    Waiting.on(vertx.close());
  }

  @Test
  void what_was_appended_is_read_whole_and_in_order_and_goes_when_it_is_sent() throws Exception {
    List<Event> all = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      all.add(SampleEvents.response(i, i % 50));
      trial.append(all.getLast());
    }
    assertThat(trial.files(SpoolLane.FACTS)).hasSizeGreaterThan(1);
    assertThat(trial.spool.waiting()).isEqualTo(400);

    assertThat(trial.take()).isEqualTo(all);

    assertThat(trial.spool.waiting()).isZero();
    for (SpoolLane lane : SpoolLane.values()) {
      assertThat(trial.files(lane)).hasSize(1);
    }
  }

  @Test
  void a_killed_process_loses_nothing_and_the_next_one_knows_what_was_sent() throws Exception {
    append(0, 50);
    trial.take(20);
    trial.reopen();
    trial.spool.skip(trial.spool.sentBefore());
    append(50, 60);

    assertThat(trial.spool.waiting()).isEqualTo(40);
    assertThat(SpoolTrial.ids(trial.take())).isEqualTo(ids(20, 60));
  }

  @Test
  void a_torn_end_is_cut_off_and_is_no_damage() throws Exception {
    append(0, 10);
    Path file = trial.files(SpoolLane.FACTS).getLast();
    long size = Files.size(file);
    append(10, 11);
    try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
      open.truncate(size + 20);
    }
    trial.reopen();

    assertThat(Files.size(file)).isEqualTo(size);
    assertThat(SpoolTrial.ids(trial.take())).isEqualTo(ids(0, 10));
    assertThat(trial.counted("firstlight.events.corrupt.frames")).isZero();
  }

  @Test
  void a_damaged_frame_is_passed_over_and_counted() throws Exception {
    append(0, 10);
    Path file = trial.files(SpoolLane.FACTS).getLast();
    spoil(file, Files.size(file) / 2);
    trial.reopen();

    assertThat(trial.take()).hasSize(9);
    assertThat(trial.counted("firstlight.events.corrupt.frames")).isEqualTo(1);
  }

  @Test
  void a_damaged_length_does_not_hide_what_comes_after_it() throws Exception {
    append(0, 10);
    Path file = trial.files(SpoolLane.FACTS).getLast();
    // The first frame's length.
    spoil(file, 5);
    trial.reopen();

    assertThat(SpoolTrial.ids(trial.take())).isEqualTo(ids(1, 10));
    assertThat(trial.counted("firstlight.events.corrupt.frames")).isEqualTo(1);
  }

  @Test
  void detail_that_went_is_never_taken_for_what_came_later() throws Exception {
    List<Event> events = new ArrayList<>();
    // The next process would give its text and then its trace the numbers after the largest left.
    while (!Files.exists(trace(newest(SpoolLane.FACTS, SpoolLane.TEXT) + 2))) {
      events.add(SampleEvents.response(events.size(), 100));
      trial.append(events.getLast());
    }
    int before = events.size();
    for (Path file : trial.files(SpoolLane.TRACE)) {
      Files.delete(file);
    }
    trial.reopen();
    for (int i = 0; i < 20; i++) {
      events.add(SampleEvents.response(events.size(), 100));
      trial.append(events.getLast());
    }
    List<Event> taken = trial.take();
    assertThat(taken).hasSameSizeAs(events);
    for (int id = 0; id < events.size(); id++) {
      boolean isWhole = taken.get(id).getResponse().getShortened().isEmpty();
      assertThat(isWhole).as("Event " + id).isEqualTo(id >= before);
      if (isWhole) {
        assertThat(taken.get(id)).isEqualTo(events.get(id));
      }
    }
    assertThat(trial.counted("firstlight.events.corrupt.frames")).isZero();
  }

  private Path trace(long number) {
    return trial.folder.path().resolve(SpoolLane.TRACE.word() + "-" + number + ".log");
  }

  private long newest(SpoolLane... lanes) throws Exception {
    long newest = 0;
    for (SpoolLane lane : lanes) {
      for (Path file : trial.files(lane)) {
        String name = file.getFileName().toString();
        newest = Math.max(newest, Long.parseLong(name.replaceAll("\\D", "")));
      }
    }
    return newest;
  }

  @Test
  void damaged_detail_costs_the_detail_only() throws Exception {
    append(1, 2);
    spoil(trial.files(SpoolLane.TRACE).getLast(), 30);

    List<Event> read = trial.take();

    assertThat(read).hasSize(1);
    assertThat(read.getFirst().getResponse().getShortened()).isEqualTo("detail");
    assertThat(read.getFirst().getResponse().getOutput()).isEqualTo("out 1");
  }

  @Test
  void the_oldest_detail_goes_first_then_texts_then_facts_are_refused_before_usage()
      throws Exception {
    int usage = 0;
    int errors = 0;
    while (trial.lost("spool_full") == 0) {
      trial.append(SpoolSamples.incompressible(usage++, 400, 200));
      if (usage % 2 == 0) {
        trial.append(SampleEvents.failure(errors++));
      }
    }
    assertThat(trial.counted("firstlight.events.lost", "kind", "error")).isEqualTo(1);
    trial.append(SpoolSamples.incompressible(usage++, 400, 200));
    assertThat(trial.lost("spool_full")).isEqualTo(1);
    assertThat(trial.spool.bytes(SpoolLane.FACTS)).isBetween(190L << 10, 210L << 10);

    List<Event> read = trial.take();

    assertThat(read).hasSize(usage + errors - 1);
    List<String> shortened =
        read.stream()
            .filter(Event::hasResponse)
            .map(event -> event.getResponse().getShortened())
            .toList();
    assertThat(shortened).startsWith("text").contains("text");
    assertThat(trial.spool.waiting()).isZero();
  }

  @Test
  void traces_go_before_texts() throws Exception {
    for (int i = 0; i < 200; i++) {
      trial.append(SpoolSamples.incompressible(i, 1_000, 600));
    }

    List<Event> read = trial.take();

    assertThat(read).hasSize(200);
    assertThat(read.getFirst().getResponse().getShortened()).isEqualTo("detail");
    assertThat(read.getFirst().getResponse().getOutput()).hasSize(600);
    assertThat(read.getLast().getResponse().getShortened()).isEmpty();
    assertThat(trial.lost("spool_full")).isZero();
  }

  @Test
  void feedback_has_the_last_room_and_is_refused_when_there_is_none() throws Exception {
    int kept = 0;
    Acceptance last = trial.accept(SampleEvents.feedback(kept));
    while (!refused(last)) {
      last = trial.accept(SampleEvents.feedback(++kept));
    }

    assertThat(trial.spool.bytes(SpoolLane.FACTS)).isBetween(255L << 10, 256L << 10);
    assertThat(trial.counted("firstlight.events.lost", "kind", "feedback")).isEqualTo(1);
    assertThat(SpoolTrial.ids(trial.take())).isEqualTo(ids(0, kept));
  }

  @Test
  void where_the_oldest_goes_the_newest_is_there_and_feedback_too() throws Exception {
    replace(WhenFull.OLDEST);
    trial.append(SampleEvents.feedback(0));
    for (int i = 1; i < 1_000; i++) {
      trial.append(SpoolSamples.incompressible(i, 400, 400));
    }

    List<String> read = SpoolTrial.ids(trial.take());

    assertThat(read).startsWith("0").endsWith("999");
    assertThat(read.size() + trial.lost("spool_full")).isEqualTo(1_000);
    assertThat(read).hasSizeLessThan(1_000);
  }

  @Test
  void where_the_newest_goes_what_was_there_stays_whole() throws Exception {
    replace(WhenFull.NEWEST);
    for (int i = 0; i < 4_000; i++) {
      trial.append(SpoolSamples.incompressible(i, 400, 400));
    }

    List<Event> read = trial.take();

    assertThat(read.getFirst().getResponse().getShortened()).isEmpty();
    assertThat(read.getLast().getResponse().getShortened()).isEqualTo("text");
    assertThat(SpoolTrial.ids(read)).isEqualTo(ids(0, read.size()));
    assertThat(read.size() + trial.lost("spool_full")).isEqualTo(4_000);
  }

  @Test
  void a_disk_that_gets_full_gives_up_detail_and_then_memory_takes_over() throws Exception {
    append(0, 60);
    trial.disk.space(100);
    append(60, 70);
    assertThat(trial.files(SpoolLane.TRACE)).isEmpty();
    assertThat(trial.spool.memory().count()).isPositive();
    Acceptance waits = trial.accept(SampleEvents.feedback(70));
    assertThat(waits.isOver()).isFalse();

    trial.disk.space(Long.MAX_VALUE);
    trial.time.advance(Duration.ofSeconds(2));
    append(71, 80);

    assertThat(trial.spool.memory().count()).isEqualTo(11);
    assertThat(SpoolTrial.ids(trial.take())).isEqualTo(ids(0, 80));
    assertThat(waits.isOver()).isTrue();
    assertThat(waits.future().succeeded() || !waits.future().isComplete()).isTrue();
    assertThat(trial.spool.memory().count()).isZero();
  }

  @Test
  void after_a_write_that_failed_in_the_middle_nothing_is_there_twice() throws Exception {
    append(0, 5);
    trial.disk.space(700);
    trial.append(batch(5, 12));
    List<Event> before = trial.take();
    assertThat(SpoolTrial.ids(before)).isEqualTo(ids(0, 12));

    trial.reopen();
    assertThat(trial.take()).isEmpty();
  }

  @Test
  void space_that_others_need_is_left_alone() throws Exception {
    trial =
        reopened(new SpoolConfig(parent.toString(), 256 << 10, 16 << 10, 1_000, WhenFull.DETAIL));
    trial.disk.free(999);
    append(0, 5);
    assertThat(trial.files(SpoolLane.FACTS)).isEmpty();
    trial.disk.free(1_000);
    trial.time.advance(Duration.ofSeconds(2));
    append(5, 10);

    assertThat(trial.files(SpoolLane.FACTS)).hasSize(1);
    assertThat(SpoolTrial.ids(trial.take())).isEqualTo(ids(0, 10));
  }

  @Test
  void feedback_is_refused_where_the_disk_can_not_make_it_safe() throws Exception {
    trial.disk.forgetful(true);

    assertThat(refused(trial.accept(SampleEvents.feedback(1)))).isTrue();
  }

  @Test
  void a_disk_that_is_broken_costs_what_memory_has_no_room_for() throws Exception {
    trial.disk.broken(true);
    for (int i = 0; i < 200; i++) {
      trial.append(SpoolSamples.incompressible(i, 1_000, 1_000));
    }

    assertThat(trial.lost("memory_full")).isEqualTo(104);
    List<Event> read = trial.take();
    assertThat(SpoolTrial.ids(read)).isEqualTo(ids(0, 96));
    assertThat(read.getFirst().getResponse().getShortened()).isEqualTo("text");
  }

  private void append(int from, int to) {
    for (int i = from; i < to; i++) {
      trial.append(SampleEvents.response(i, 20));
    }
  }

  private static Event[] batch(int from, int to) {
    Event[] events = new Event[to - from];
    for (int i = from; i < to; i++) {
      events[i - from] = SampleEvents.response(i, 5);
    }
    return events;
  }

  private static List<String> ids(int from, int to) {
    return IntStream.range(from, to).mapToObj(Integer::toString).toList();
  }

  private static boolean refused(Acceptance acceptance) throws Exception {
    assertThat(acceptance.isOver()).isTrue();
    Waiting.on(acceptance.future().otherwiseEmpty());
    return acceptance.future().failed();
  }

  private void replace(WhenFull whenFull) throws Exception {
    trial = reopened(new SpoolConfig(parent.toString(), 256 << 10, 16 << 10, 0, whenFull));
  }

  private SpoolFixture reopened(SpoolConfig config) throws Exception {
    trial.reader.close();
    trial.folder.close();
    return new SpoolFixture(parent, vertx, config);
  }

  private static void spoil(Path file, long at) throws Exception {
    try (FileChannel open =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      open.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 0x55)).flip();
      open.write(one, at);
    }
  }
}
