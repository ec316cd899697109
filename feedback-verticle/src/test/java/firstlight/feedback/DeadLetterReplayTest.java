package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.DeadLetterReplay;
import firstlight.protocol.wire.Event;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What this version understands goes back once; the rest waits for a later one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DeadLetterReplayTest {
  private LakeTrial trial;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    trial = new LakeTrial(folder);
  }

  @AfterAll
  void stop() throws Exception {
    trial.close();
  }

  private DeadLetterReplay.Topics topics(String name) {
    return new DeadLetterReplay.Topics(trial.kafka.bootstrap(), name, name + ".dead");
  }

  @Test
  void letters_that_are_understood_go_back_once_and_the_rest_stays() throws Exception {
    FeedbackConfig config = trial.config("back", 1, LakeTrial.files(10, LakeTrial.SOON));
    trial.createTopic(config);
    List<Event> good = List.of(TestEvents.response(1), TestEvents.feedback(2));
    for (Event event : good) {
      trial.send("back.dead", key(event), event.toByteArray());
      trial.send("back.dead", null, new byte[] {1});
    }
    trial.send("back.dead", null, null);
    trial.flush();

    assertThat(DeadLetterReplay.run(topics("back")))
        .isEqualTo(new DeadLetterReplay.Outcome(2, 0, Map.of("undecodable", 2L, "null_value", 1L)));
    assertThat(DeadLetterReplay.run(topics("back")))
        .isEqualTo(new DeadLetterReplay.Outcome(0, 2, Map.of("undecodable", 2L, "null_value", 1L)));

    List<ConsumerRecord<byte[], byte[]>> records = trial.records("back", 2);
    assertThat(records).hasSize(2);
    for (int i = 0; i < 2; i++) {
      assertThat(records.get(i).key()).isEqualTo(key(good.get(i)));
      assertThat(Event.parseFrom(records.get(i).value())).isEqualTo(good.get(i));
    }
    String sink = trial.deploy(config);
    trial.awaitRows("back", 2);
    trial.undeploy(sink);
  }

  @Test
  void an_empty_topic_is_no_failure() throws Exception {
    trial.createTopic(trial.config("none", 1, LakeTrial.files(10, LakeTrial.SOON)));

    assertThat(DeadLetterReplay.run(topics("none")))
        .isEqualTo(new DeadLetterReplay.Outcome(0, 0, Map.of()));
  }

  private static byte[] key(Event event) {
    return ("session of " + event.getId()).getBytes(StandardCharsets.UTF_8);
  }
}
