package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What of the topic is read, and how far behind the sink says it is. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LakeLagTest {
  private LakeTrial trial;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    trial = new LakeTrial(folder);
  }

  @AfterAll
  void stop() throws Exception {
    trial.close();
  }

  /** The end of a transaction has an offset, and no Event. */
  @Test
  void only_committed_events_are_read_and_the_lag_goes_back_to_zero() throws Exception {
    FeedbackConfig config = trial.config("lag", 1, LakeTrial.files(5, Duration.ofHours(1)));
    trial.createTopic(config);
    trial.sendInTransaction("lag", TestEvents.response(1), true);
    trial.sendInTransaction("lag", TestEvents.response(2), false);
    trial.sendInTransaction("lag", TestEvents.response(3), true);
    String sink = trial.deploy(config);
    trial.until(() -> trial.gauge("firstlight.feedback.lag.events") > 0);
    trial.until(() -> trial.gauge("firstlight.feedback.lag.seconds") > 1);
    assertThat(trial.rows("lag")).isZero();

    for (int i = 4; i < 7; i++) {
      trial.sendInTransaction("lag", TestEvents.response(i), true);
    }
    trial.sendInTransaction("lag", TestEvents.response(7), false);

    trial.awaitRows("lag", 5);
    trial.until(() -> trial.gauge("firstlight.feedback.lag.events") == 0);
    assertThat(trial.gauge("firstlight.feedback.lag.seconds")).isZero();
    assertThat(
            trial.query(
                "select list(event_id order by kafka_offset)::varchar from " + trial.rowsOf("lag")))
        .containsExactly(List.of("[ev_r1, ev_r3, ev_r4, ev_r5, ev_r6]"));
    trial.undeploy(sink);
  }
}
