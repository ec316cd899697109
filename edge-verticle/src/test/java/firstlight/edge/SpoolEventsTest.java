package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.wire.Event;
import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Field case B63: whatever Kafka does, nothing is lost, nothing is doubled, nobody waits. */
class SpoolEventsTest {
  @TempDir Path folder;

  private SpoolTrial trial;

  @BeforeEach
  void begin() throws Exception {
    trial = new SpoolTrial(folder);
  }

  @AfterEach
  void end() throws Exception {
    trial.close();
  }

  @Test
  void events_arrive_whole_and_in_order_and_accept_says_when_they_are_durable() throws Exception {
    SpoolEvents events = trial.kafka().open();
    List<Event> all = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Event event = SampleEvents.response(i, i).toBuilder().setSession("s" + i % 3).build();
      all.add(event);
      SpoolTrial.publish(events, event);
    }
    Waiting.on(events.accept(BuiltDraft.of(SampleEvents.feedback(100))));
    all.add(SampleEvents.feedback(100));

    awaitRead(101);

    List<Event> read = trial.read();
    assertThat(read).containsExactlyInAnyOrderElementsOf(all);
    for (int key = 0; key < 3; key++) {
      String session = "s" + key;
      assertThat(read.stream().filter(one -> one.getSession().equals(session)).toList())
          .isEqualTo(all.stream().filter(one -> one.getSession().equals(session)).toList());
    }
    assertThat(trial.counted("firstlight.events.sent")).isEqualTo(101);
    Waiting.until(() -> trial.gauge("firstlight.events.spool.events") == 0);
  }

  @Test
  void with_the_broker_away_before_the_start_feedback_is_durable_at_once_and_arrives_later()
      throws Exception {
    SpoolEvents events = trial.open();
    long begin = System.nanoTime();
    for (int i = 0; i < 200; i++) {
      Waiting.on(events.accept(BuiltDraft.of(SampleEvents.feedback(i))));
      SpoolTrial.publish(events, SampleEvents.response(1_000 + i, 20));
    }
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(8));
    Waiting.until(() -> trial.gauge("firstlight.events.spool.events") == 400);

    trial.kafka();

    awaitRead(400);
    assertThat(SpoolTrial.ids(trial.read())).doesNotHaveDuplicates();
  }

  @Test
  void a_broker_that_goes_and_comes_back_gets_each_event_once() throws Exception {
    SpoolEvents events = trial.kafka().open();
    publish(events, 0, 300);
    awaitRead(300);

    trial.stopKafka();
    publish(events, 300, 600);
    trial.kafka();
    publish(events, 600, 900);

    awaitRead(900);
    assertThat(SpoolTrial.ids(trial.read())).doesNotHaveDuplicates();
  }

  @Test
  void who_is_fenced_comes_back_and_doubles_nothing() throws Exception {
    SpoolEvents events = trial.kafka().open();
    publish(events, 0, 50);
    awaitRead(50);
    String id = Files.readString(spools().getFirst().resolve("id"));

    Producer<byte[], byte[]> other = new SpoolKafka(trial.config(), id).open(false);
    publish(events, 50, 100);

    awaitRead(100);
    SpoolKafka.close(other);
    assertThat(SpoolTrial.ids(trial.read())).doesNotHaveDuplicates();
    assertThat(trial.counted("firstlight.events.transactions.aborted")).isPositive();
  }

  @Test
  void close_with_kafka_away_ends_in_time_and_the_next_process_sends_what_was_left()
      throws Exception {
    SpoolEvents events = trial.open();
    publish(events, 0, 100);
    long begin = System.nanoTime();
    Waiting.on(events.close());
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(8));
    assertThat(events.accept(BuiltDraft.of(SampleEvents.feedback(1))).failed()).isTrue();

    trial.kafka();
    SpoolEvents next = trial.open();
    publish(next, 100, 150);

    awaitRead(150);
    assertThat(SpoolTrial.ids(trial.read())).doesNotHaveDuplicates();
    assertThat(spools()).hasSize(1);
  }

  @Test
  void kafka_knows_how_far_it_got_where_the_folder_does_not() throws Exception {
    SpoolEvents events = trial.kafka().open();
    publish(events, 0, 50);
    Waiting.on(events.close());
    Files.delete(spools().getFirst().resolve("sent"));

    publish(trial.open(), 50, 60);

    awaitRead(60);
    assertThat(SpoolTrial.ids(trial.read())).doesNotHaveDuplicates();
  }

  @Test
  void the_folder_knows_how_far_it_got_where_kafka_has_forgotten() throws Exception {
    SpoolEvents events = trial.kafka().open();
    publish(events, 0, 50);
    Waiting.on(events.close());
    String id = Files.readString(spools().getFirst().resolve("id"));
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", trial.bootstrap()))) {
      admin.deleteConsumerGroups(List.of("firstlight.spool." + id)).all().get();
    }

    publish(trial.open(), 50, 60);

    awaitRead(60);
    assertThat(SpoolTrial.ids(trial.read())).doesNotHaveDuplicates();
  }

  @Test
  void close_sends_what_is_held() throws Exception {
    SpoolEvents events = trial.kafka().open();
    publish(events, 0, 500);

    Waiting.on(events.close());

    assertThat(trial.read()).hasSize(500);
  }

  /** Field case B62: what was acknowledged just before the end is on Kafka after it. */
  @Test
  void feedback_that_was_acknowledged_just_before_the_end_is_on_kafka_after_it() throws Exception {
    SpoolEvents events = trial.kafka().open();
    List<Future<Void>> accepted =
        IntStream.range(0, 20)
            .mapToObj(i -> events.accept(BuiltDraft.of(SampleEvents.feedback(i))))
            .toList();
    Waiting.on(Future.all(accepted));

    Waiting.on(events.close());

    assertThat(SpoolTrial.ids(trial.read())).hasSize(20).doesNotHaveDuplicates();
  }

  @Test
  void two_edges_of_a_process_share_one_spool_and_the_last_one_ends_it() throws Exception {
    SpoolEvents first = trial.kafka().open();
    SpoolEvents second = trial.open();
    publish(first, 0, 50);
    Waiting.on(first.close());
    publish(second, 50, 100);
    Waiting.on(second.close());

    assertThat(SpoolTrial.ids(trial.read())).hasSize(100).doesNotHaveDuplicates();
    assertThat(spools()).hasSize(1);
  }

  @Test
  void what_a_dead_process_left_beside_ours_is_sent_and_deleted() throws Exception {
    SpoolEvents dead = trial.open();
    publish(dead, 0, 100);
    Waiting.on(dead.close());
    // The next one takes the first folder as its own, so there must be another.
    Files.move(spools().getFirst(), trial.spools().resolve("spool-zzz"));
    SpoolEvents other = trial.open(SpoolTrial.config("127.0.0.1:1", trial.spools().toString()));
    Waiting.until(() -> spools().size() == 1);
    publish(other, 100, 200);
    Waiting.until(() -> trial.gauge("firstlight.events.spool.events") >= 100);
    Files.createDirectories(trial.spools().resolve("spool-aaa"));

    SpoolEvents ours = trial.kafka().open();
    publish(ours, 200, 300);
    Waiting.on(other.close());

    awaitRead(300);
    assertThat(SpoolTrial.ids(trial.read())).doesNotHaveDuplicates();
    Waiting.until(() -> spools().size() == 1);
  }

  @Test
  void without_a_folder_feedback_is_durable_once_kafka_has_it() throws Exception {
    EventsConfig memory = SpoolTrial.config(trial.bootstrap(), "");
    SpoolEvents events = trial.open(memory);
    Future<Void> early = events.accept(BuiltDraft.of(SampleEvents.feedback(1)));
    Waiting.on(early.otherwiseEmpty());
    assertThat(early.cause()).isInstanceOf(MeshException.class);
    assertThat(((MeshException) early.cause()).kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(((MeshException) early.cause()).retryAfterMillis()).isPositive();
    SpoolTrial.publish(events, SampleEvents.response(2, 3));

    trial.kafka();
    awaitRead(1);
    Waiting.on(events.accept(BuiltDraft.of(SampleEvents.feedback(3))));

    // What was refused is not sent later.
    assertThat(SpoolTrial.ids(trial.read())).containsExactlyInAnyOrder("2", "3");
  }

  @Test
  void without_a_folder_what_is_not_sent_at_the_end_is_counted() throws Exception {
    SpoolEvents events = trial.open(SpoolTrial.config(trial.bootstrap(), ""));
    publish(events, 0, 10);

    Waiting.on(events.close());

    assertThat(trial.counted("firstlight.events.lost", "reason", "closed")).isEqualTo(10);
  }

  @Test
  void a_topic_that_takes_only_small_records_gets_less_of_an_event_and_nothing_stops()
      throws Exception {
    trial.kafka();
    deleteTopic();
    trial.topic(Map.of("max.message.bytes", "150000"));
    SpoolEvents events = trial.open(trial.config(1 << 20));
    SpoolTrial.publish(events, SampleEvents.response(1, 10));
    SpoolTrial.publish(events, SpoolSamples.incompressible(2, 200_000, 0));
    SpoolTrial.publish(events, SpoolSamples.incompressible(3, 0, 250_000));
    SpoolTrial.publish(events, SpoolSamples.largeError(4, 250_000));
    SpoolTrial.publish(events, SampleEvents.response(5, 10));

    awaitRead(4);

    Map<String, Event> read = new HashMap<>();
    trial.read().forEach(event -> read.put(event.getId(), event));
    assertThat(read).containsOnlyKeys("1", "2", "3", "5");
    assertThat(read.get("2").getResponse().getShortened()).isEqualTo("detail");
    assertThat(read.get("3").getResponse().getShortened()).isEqualTo("text");
    Waiting.until(() -> trial.counted("firstlight.events.lost", "reason", "too_large") == 1);
  }

  @Test
  void a_topic_that_takes_less_than_a_producer_puts_together_stops_nothing() throws Exception {
    trial.kafka();
    deleteTopic();
    trial.topic(Map.of("max.message.bytes", "3000"));
    SpoolEvents events = trial.open();
    for (int i = 0; i < 10; i++) {
      SpoolTrial.publish(events, SpoolSamples.incompressible(i, 1_000 * i, 0));
    }
    Waiting.until(() -> trial.counted("firstlight.events.transactions.aborted") > 1);

    awaitRead(10);
  }

  @Test
  void a_topic_that_is_not_there_yet_is_waited_for() throws Exception {
    trial.kafka();
    deleteTopic();
    SpoolEvents events = trial.open();
    publish(events, 0, 10);
    Waiting.until(() -> trial.gauge("firstlight.events.spool.events") == 10);

    trial.topic(Map.of());

    awaitRead(10);
    assertThat(SpoolTrial.ids(trial.read())).doesNotHaveDuplicates();
  }

  private void deleteTopic() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", trial.bootstrap()))) {
      admin.deleteTopics(List.of(SpoolTrial.TOPIC)).all().get();
      Waiting.until(() -> !admin.listTopics().names().get().contains(SpoolTrial.TOPIC));
    }
  }

  private static void publish(Events events, int from, int to) {
    IntStream.range(from, to)
        .forEach(i -> SpoolTrial.publish(events, SampleEvents.response(i, i % 30)));
  }

  private void awaitRead(int count) throws Exception {
    SpoolTrial.until(() -> trial.read().size() >= count);
    assertThat(trial.read()).hasSize(count);
  }

  private List<Path> spools() throws Exception {
    try (Stream<Path> folders = Files.list(trial.spools())) {
      return folders.sorted().toList();
    }
  }
}
