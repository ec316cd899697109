package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import firstlight.protocol.wire.Event;
import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Field cases B62 and B63 with processes that die or halt at any moment. */
class SpoolCrashTest {
  private static final int KILLS = 10;
  private static final int RUN = 1_000_000;

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
  void an_edge_that_is_killed_at_any_moment_doubles_nothing_and_keeps_what_it_confirmed()
      throws Exception {
    trial.kafka();
    long seed = Long.getLong("seed", new Random().nextLong());
    Random random = new Random(seed);
    Set<String> confirmed = new HashSet<>();
    for (int run = 0; run < KILLS; run++) {
      SpoolProcess edge = SpoolProcess.edge(trial.bootstrap(), trial.spools(), run * RUN);
      confirmed.add(edge.await().replace("accepted ", ""));
      waitFor(random.nextInt(400));
      confirmed.addAll(edge.kill());
    }
    check(confirmed, KILLS, seed);
  }

  @Test
  void an_edge_that_is_killed_with_a_filled_spool_loses_nothing_that_was_written()
      throws Exception {
    Set<String> confirmed = new HashSet<>();
    try (SpoolProcess edge = SpoolProcess.edge(trial.bootstrap(), trial.spools(), 0)) {
      for (int i = 0; i < 30; i++) {
        confirmed.add(edge.await().replace("accepted ", ""));
      }
      confirmed.addAll(edge.kill());
    }

    trial.kafka();
    check(confirmed, 1, 0);
    assertThat(confirmed).hasSizeGreaterThanOrEqualTo(30);
  }

  @Test
  void a_broker_that_halts_holds_nothing_up_and_gets_each_event_once() throws Exception {
    try (SpoolProcess broker = SpoolProcess.broker(folder.resolve("kafka"), trial.port)) {
      trial.topic(Map.of());
      SpoolEvents events = trial.open();
      publish(events, 0, 100);
      untilRead(100);

      broker.signal("STOP");
      long slowest = 0;
      for (int i = 100; i < 400; i++) {
        long begin = System.nanoTime();
        SpoolTrial.publish(events, SampleEvents.response(i, 10));
        slowest = Math.max(slowest, System.nanoTime() - begin);
        if (i % 20 == 0) {
          Waiting.on(events.accept(BuiltDraft.of(SampleEvents.feedback(1_000 + i))));
        }
      }
      assertThat(Duration.ofNanos(slowest)).isLessThan(Duration.ofMillis(500));
      // Long enough for the transaction that was under way to be given up.
      SpoolTrial.until(() -> trial.counted("firstlight.events.transactions.aborted") > 0);
      broker.signal("CONT");

      untilRead(415);
      assertThat(SpoolTrial.ids(trial.read())).hasSize(415).doesNotHaveDuplicates();
    }
  }

  @Test
  void a_disk_that_is_really_full_loses_nothing_while_kafka_takes_it() throws Exception {
    Path small = Files.createDirectories(folder.resolve("small"));
    Process mount =
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small.toString())
            .start();
    assumeThat(mount.waitFor()).as("only root may mount a small disk").isZero();
    try {
      SpoolEvents events = trial.open(SpoolTrial.config(trial.bootstrap(), small.toString()));
      for (int i = 0; i < 3_000; i++) {
        SpoolTrial.publish(events, SampleEvents.response(i, 100));
      }
      Future<Void> feedback = events.accept(BuiltDraft.of(SampleEvents.feedback(9_999)));
      Waiting.on(feedback.otherwiseEmpty());
      assertThat(trial.counted("firstlight.events.lost")).isZero();

      trial.kafka();
      SpoolTrial.until(() -> trial.gauge("firstlight.events.spool.events") == 0);
      List<String> ids = SpoolTrial.ids(trial.read());
      assertThat(ids).doesNotHaveDuplicates().hasSizeBetween(3_000, 3_001);
      if (feedback.succeeded()) {
        assertThat(ids).contains("9999");
      }
      Waiting.on(events.close());
    } finally {
      new ProcessBuilder("umount", "-l", small.toString()).start().waitFor();
    }
  }

  /** What arrived of each run is what it began with, without a gap, and all it had confirmed. */
  private void check(Set<String> confirmed, int runs, long seed) throws Exception {
    SpoolEvents heir = trial.open();
    Waiting.on(heir.accept(BuiltDraft.of(SampleEvents.feedback(runs * RUN))));
    SpoolTrial.until(() -> trial.counted("firstlight.events.sent", "kind", "feedback") > 0);
    SpoolTrial.until(() -> trial.gauge("firstlight.events.spool.events") == 0);
    List<String> ids = SpoolTrial.ids(trial.read());
    assertThat(ids).as("seed %d", seed).doesNotHaveDuplicates().containsAll(confirmed);
    TreeSet<Integer> numbers = new TreeSet<>(ids.stream().map(Integer::parseInt).toList());
    for (int run = 0; run < runs; run++) {
      List<Integer> some = new ArrayList<>(numbers.subSet(run * RUN, (run + 1) * RUN));
      assertThat(some).as("seed %d", seed).isNotEmpty();
      assertThat(some.getLast() - some.getFirst()).isEqualTo(some.size() - 1);
      assertThat(some.getFirst()).isEqualTo(run * RUN);
    }
  }

  private static void waitFor(int millis) throws Exception {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    Waiting.until(() -> System.nanoTime() > end);
  }

  private static void publish(Events events, int from, int to) {
    for (int i = from; i < to; i++) {
      Event event = SampleEvents.response(i, 10);
      SpoolTrial.publish(events, event);
    }
  }

  private void untilRead(int count) throws Exception {
    SpoolTrial.until(() -> trial.read().size() >= count);
  }
}
