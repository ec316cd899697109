package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.wire.Event;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.iceberg.DataFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** No event twice and none missing, whatever dies when; with the real broker and S3 server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LakeFaultsTest {
  private static final int FOR_EVER = Integer.MAX_VALUE;
  private static final Duration SOON = LakeTrial.SOON;

  private LakeTrial trial;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    trial = new LakeTrial(folder);
  }

  @AfterAll
  void stop() throws Exception {
    trial.close();
  }

  /** A batch here takes five steps: its Cut, two files, and two tables that are told of them. */
  @Test
  void a_sink_that_dies_after_any_step_leaves_no_event_twice_and_none_missing() throws Exception {
    List<Run> runs = new ArrayList<>();
    for (int steps = 1; steps <= 11; steps++) {
      Run run = new Run("crash" + steps, new Cutoff(steps, FOR_EVER));
      runs.add(run);
      trial.createTopic(trial.config(run.name, 1, LakeTrial.files(50, SOON)));
      trial.send(run.name, mixed(130));
      run.deployment =
          trial.deploy(
              trial.config(run.name, 1, LakeTrial.files(50, SOON)), new FaultyStorage(run.cutoff));
    }
    for (Run run : runs) {
      trial.until(run.cutoff::reached);
      trial.undeploy(run.deployment);
    }
    // The next one would cut its batches elsewhere.
    for (Run run : runs) {
      run.deployment = trial.deploy(trial.config(run.name, 1, LakeTrial.files(1000, SOON)));
    }
    for (Run run : runs) {
      trial.awaitRows(run.name, 130);
      trial.send(run.name, List.of(TestEvents.response(1000)));
      trial.awaitRows(run.name, 131);
      assertOnceEach(run.name, 131);
      trial.undeploy(run.deployment);
    }
  }

  private static final class Run {
    private final String name;
    private final Cutoff cutoff;
    private String deployment = "";

    Run(String name, Cutoff cutoff) {
      this.name = name;
      this.cutoff = cutoff;
    }
  }

  @Test
  void a_lake_that_is_away_for_a_while_is_waited_for() throws Exception {
    FeedbackConfig config = trial.config("away", 1, LakeTrial.files(20, SOON));
    trial.createTopic(config);
    trial.send("away", mixed(100));
    Cutoff cutoff = new Cutoff(4, 3);

    String sink = trial.deploy(config, new FaultyStorage(cutoff));
    trial.awaitRows("away", 100);

    assertThat(cutoff.healed()).isTrue();
    assertOnceEach("away", 100);
    trial.undeploy(sink);
  }

  @Test
  void sinks_that_come_and_go_share_the_partitions() throws Exception {
    FeedbackConfig config = trial.config("shared", 4, LakeTrial.files(10, SOON));
    trial.createTopic(config);
    trial.send("shared", mixed(100));
    String first = trial.deploy(config);
    trial.awaitRows("shared", 20);

    String second = trial.deploy(config);
    trial.send("shared", shifted(100, 100));
    trial.undeploy(first);
    trial.send("shared", shifted(200, 100));

    trial.awaitRows("shared", 300);
    assertOnceEach("shared", 300);
    trial.undeploy(second);
  }

  @Test
  void a_topic_made_anew_overwrites_nothing() throws Exception {
    FeedbackConfig config = trial.config("anew", 1, LakeTrial.files(100, SOON));
    trial.createTopic(config);
    trial.send("anew", mixed(10));
    String sink = trial.deploy(config);
    trial.awaitRows("anew", 10);
    trial.undeploy(sink);
    trial.deleteTopic(config);

    trial.until(() -> trial.created(config));
    trial.send("anew", shifted(10, 10));
    sink = trial.deploy(config);

    trial.awaitRows("anew", 20);
    assertOnceEach("anew", 20);
    trial.undeploy(sink);
  }

  private void assertOnceEach(String name, long events) {
    assertOnceEach(trial, name, events);
  }

  /** In the files and in the tables. */
  static void assertOnceEach(LakeTrial trial, String name, long events) {
    for (String rows : List.of(trial.table(name), trial.rowsOf(name))) {
      assertThat(trial.query("select count(*), count(distinct event_id) from " + rows))
          .as(name + ": " + trial.objects(name))
          .containsExactly(List.of(events, events));
    }
    assertThat(trial.openUploads()).isZero();
    for (String object : trial.objects(name)) {
      assertThat(trial.ending(name, object)).as(object).isEqualTo("PAR1");
    }
    for (DataFile file : trial.tables(name)) {
      assertThat(trial.object(name, file.location())).hasSize(file.fileSizeInBytes());
    }
  }

  private static List<Event> mixed(int count) {
    return shifted(0, count);
  }

  private static List<Event> shifted(int first, int count) {
    return IntStream.range(first, first + count)
        .mapToObj(i -> i % 3 == 0 ? TestEvents.feedback(i) : TestEvents.response(i))
        .toList();
  }
}
