package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.DeadLetter;
import firstlight.protocol.EmbeddedKafka;
import firstlight.protocol.wire.Event;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** From Kafka to files that DuckDB reads. Field cases B64 (poison) and B68 (quiet, midnight). */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FeedbackVerticleTest {
  private static final Duration SOON = LakeTrial.SOON;
  private static final Duration NEVER = Duration.ofHours(1);

  private LakeTrial trial;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    trial = new LakeTrial(folder);
  }

  @AfterAll
  void stop() throws Exception {
    trial.close();
  }

  @Test
  void a_hundred_responses_and_twenty_feedbacks_are_read_back_by_duckdb() throws Exception {
    FeedbackConfig config = trial.config("plain", 3, LakeTrial.files(1000, SOON));
    trial.createTopic(config);
    String sink = trial.deploy(config);
    List<Event> events = new ArrayList<>();
    IntStream.range(0, 100).mapToObj(TestEvents::response).forEach(events::add);
    IntStream.range(0, 20).mapToObj(TestEvents::feedback).forEach(events::add);

    trial.send("plain", events);
    trial.awaitRows("plain", 120);

    assertThat(
            trial.query(
                "select count(*), count(distinct event_id), sum(prompt_tokens)::bigint,"
                    + " sum(output_tokens)::bigint, sum(len(generations[1].token_ids))::bigint,"
                    + " min(time) = make_timestamptz(2026,11,29,12,0,0.0,'UTC'),"
                    + " min(date)::varchar, count(error_code),"
                    + " count(distinct session), max(input_messages[1].text) from "
                    + trial.table("plain", "response")))
        .containsExactly(
            List.of(100L, 100L, 5950L, 4950L, 200L, true, "2026-11-29", 0L, 10L, "say 99"));
    assertThat(
            trial.query(
                "select count(*), round(sum(number), 6), sum(token_range.\"end\")::bigint,"
                    + " count(distinct metadata['round']), count(comment), count(session) from "
                    + trial.table("plain", "feedback")))
        .containsExactly(List.of(20L, 19.0, 230L, 20L, 0L, 0L));
    trial.undeploy(sink);
    assertThat(trial.objects("plain"))
        .allMatch(
            name ->
                name.matches(
                    "kind=(response|feedback)/date=2026-11-29/plain-[012]-\\d{20}\\.parquet"));
  }

  @Test
  void poison_goes_to_the_dead_letters_and_stops_nobody() throws Exception {
    FeedbackConfig config = trial.config("poison", 1, LakeTrial.files(1000, SOON));
    trial.createTopic(config);
    List<byte[]> poison = new ArrayList<>();
    poison.add(new byte[] {(byte) 0xFF, (byte) 0xFE, 0});
    poison.add(new byte[0]);
    poison.add(null);
    for (String text : List.of("{", "[]", "{\"rating\":\"abc\"}")) {
      poison.add(text.getBytes(StandardCharsets.UTF_8));
    }
    poison.add(("{\"a\":\"" + "x".repeat(900 << 10) + "\"}").getBytes(StandardCharsets.UTF_8));
    poison.add("[".repeat(50_000).getBytes(StandardCharsets.UTF_8));
    poison.add(TestEvents.response(1).toBuilder().setSchema(99).build().toByteArray());
    poison.add(TestEvents.response(1).toBuilder().setId("").build().toByteArray());
    poison.add(TestEvents.response(1).toBuilder().clearResponse().build().toByteArray());
    for (int i = 0; i < poison.size(); i++) {
      trial.send("poison", null, TestEvents.response(i).toByteArray());
      trial.send("poison", null, poison.get(i));
    }
    trial.send("poison", List.of(TestEvents.feedback(1)));

    String sink = trial.deploy(config);
    trial.awaitRows("poison", poison.size() + 1);

    List<ConsumerRecord<byte[], byte[]>> dead = trial.records("poison.dead", poison.size());
    assertThat(dead).hasSize(poison.size());
    assertThat(dead)
        .extracting(letter -> header(letter, DeadLetter.REASON))
        .contains("null_value", "empty_value", "undecodable", "unknown_schema")
        .contains("invalid_id", "unknown_body");
    for (int i = 0; i < poison.size(); i++) {
      assertThat(header(dead.get(i), DeadLetter.OFFSET)).isEqualTo(Integer.toString(2 * i + 1));
      assertThat(dead.get(i).value()).isEqualTo(poison.get(i));
    }
    trial.until(() -> trial.counted("firstlight.feedback.dead.letters") == poison.size());
    trial.undeploy(sink);
  }

  private static String header(ConsumerRecord<byte[], byte[]> letter, String name) {
    return new String(letter.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }

  @Test
  void a_topic_of_poison_only_is_committed_and_makes_no_file() throws Exception {
    FeedbackConfig config = trial.config("venom", 1, LakeTrial.files(3, NEVER));
    trial.createTopic(config);
    for (int i = 0; i < 3; i++) {
      trial.send("venom", null, null);
    }

    String sink = trial.deploy(config);

    trial.until(() -> trial.committed(config) == 3);
    assertThat(trial.objects("venom")).isEmpty();
    trial.undeploy(sink);
  }

  @Test
  void a_single_event_on_a_quiet_topic_becomes_visible() throws Exception {
    FeedbackConfig config = trial.config("quiet", 1, LakeTrial.files(1000, SOON));
    trial.createTopic(config);
    String sink = trial.deploy(config);

    trial.send("quiet", List.of(TestEvents.response(1)));

    trial.awaitRows("quiet", 1);
    trial.undeploy(sink);
  }

  @Test
  void events_that_alternate_around_midnight_make_few_files() throws Exception {
    FeedbackConfig config = trial.config("midnight", 1, LakeTrial.files(1000, NEVER));
    trial.createTopic(config);
    long midnight = Instant.parse("2026-11-30T00:00:00Z").toEpochMilli();
    trial.send(
        "midnight",
        IntStream.range(0, 10_000)
            .mapToObj(i -> TestEvents.response(i, i % 2 == 0 ? midnight - 1000 : midnight + 1000))
            .toList());

    String sink = trial.deploy(config);
    trial.awaitRows("midnight", 10_000);

    assertThat(trial.objects("midnight")).hasSizeLessThanOrEqualTo(2 * (10_000 / 1000 + 2));
    assertThat(
            trial.query(
                "select date::varchar, count(*) from %s group by 1 order by 1"
                    .formatted(trial.table("midnight"))))
        .containsExactly(List.of("2026-11-29", 5000L), List.of("2026-11-30", 5000L));
    trial.undeploy(sink);
  }

  @Test
  void times_that_can_not_be_right_share_one_folder_and_can_be_read() throws Exception {
    FeedbackConfig config = trial.config("times", 1, LakeTrial.files(1000, SOON));
    trial.createTopic(config);
    List<Long> times = new ArrayList<>(List.of(0L, -1L, Long.MIN_VALUE, Long.MAX_VALUE));
    for (String time : List.of("1970-06-01T00:00:00Z", "2262-01-01T00:00:00Z")) {
      times.add(Instant.parse(time).toEpochMilli());
    }
    times.add(Instant.parse("9999-12-31T23:59:59Z").toEpochMilli());
    trial.send(
        "times",
        IntStream.range(0, times.size())
            .mapToObj(i -> TestEvents.response(i, times.get(i)))
            .toList());

    String sink = trial.deploy(config);
    trial.awaitRows("times", times.size());

    assertThat(trial.objects("times"))
        .singleElement()
        .asString()
        .startsWith("kind=response/date=invalid/times-0-");
    assertThat(trial.query("select count(time) from " + trial.table("times")))
        .containsExactly(List.of(0L));
    trial.undeploy(sink);
  }

  @Test
  void a_sink_that_starts_before_kafka_waits_for_it(@TempDir Path folder) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    FeedbackConfig here = trial.config("late", 1, LakeTrial.files(1000, SOON));
    FeedbackConfig config =
        new FeedbackConfig(
            new FeedbackConfig.Kafka("127.0.0.1:" + port, "late", "late", "late.dead", true, 1, 1),
            here.files(),
            here.spool(),
            here.closeLimit());
    String sink = trial.deploy(config);
    trial.until(() -> trial.counted("firstlight.feedback.errors") > 0);

    try (EmbeddedKafka late = EmbeddedKafka.start(folder, port)) {
      trial.until(() -> trial.sendOnce(late.bootstrap(), "late", TestEvents.response(1)));
      trial.awaitRows("late", 1);
      trial.undeploy(sink);
    }
  }
}
