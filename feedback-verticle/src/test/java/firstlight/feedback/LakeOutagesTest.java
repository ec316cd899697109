package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.LakeConfig;
import firstlight.protocol.wire.Event;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A service that is away is waited for, and nothing is lost or doubled; with the real ones. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LakeOutagesTest {
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
  void a_catalog_that_is_away_is_waited_for() throws Exception {
    FeedbackConfig config = trial.config("catalog", 1, LakeTrial.files(20, LakeTrial.SOON));
    String sink = begin(config);
    trial.lake.stopPostgres();
    double errors = trial.counted("firstlight.feedback.errors");
    trial.send("catalog", responses(50, 50));
    trial.until(() -> trial.counted("firstlight.feedback.errors") >= errors + 2);
    trial.lake.startPostgres();

    end(sink, "catalog", 100);
  }

  @Test
  void a_store_that_is_away_is_waited_for() throws Exception {
    FeedbackConfig config = trial.config("store", 1, LakeTrial.files(20, LakeTrial.SOON));
    String sink = begin(config);
    trial.lake.stopS3();
    double errors = trial.counted("firstlight.feedback.errors");
    trial.send("store", responses(50, 50));
    trial.until(() -> trial.counted("firstlight.feedback.errors") >= errors + 2);
    trial.lake.startS3();

    end(sink, "store", 100);
  }

  @Test
  void a_broker_that_is_away_is_waited_for() throws Exception {
    FeedbackConfig config = trial.config("broker", 1, LakeTrial.files(20, LakeTrial.SOON));
    String sink = begin(config);
    trial.restartKafka();
    trial.send("broker", responses(50, 50));

    end(sink, "broker", 100);
  }

  @Test
  void a_partition_that_changes_hands_during_an_upload_is_in_the_lake_once() throws Exception {
    FeedbackConfig config = trial.config("hands", 2, LakeTrial.files(10, LakeTrial.SOON));
    trial.createTopic(config);
    // With keys, so that both partitions have some.
    for (Event event : responses(0, 100)) {
      trial.send("hands", event.getIdBytes().toByteArray(), event.toByteArray());
    }
    trial.flush();
    SlowStorage slow = new SlowStorage();
    String first = trial.deploy(config, slow);
    trial.until(() -> slow.entered.getCount() == 0);

    String second = trial.deploy(config);
    // The second gets one of the two partitions while the first is in the middle of it.
    trial.awaitRows("hands", 10);
    slow.release.countDown();
    trial.awaitRows("hands", 100);

    LakeFaultsTest.assertOnceEach(trial, "hands", 100);
    trial.undeploy(first);
    trial.undeploy(second);
  }

  /** Its first upload lasts until it is released. */
  private static final class SlowStorage implements FeedbackVerticle.Storage {
    private final CountDownLatch entered = new CountDownLatch(2);
    private final CountDownLatch release = new CountDownLatch(1);

    @Override
    public LakeTables tables(LakeConfig config) throws IOException {
      return new FaultyTables(IcebergTables.open(config), new Cutoff(Integer.MAX_VALUE, 0)) {
        @Override
        void beforeAppend() throws IOException {
          entered.countDown();
          try {
            release.await();
          } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
          }
        }
      };
    }
  }

  private String begin(FeedbackConfig config) throws Exception {
    String name = config.kafka().topic();
    trial.createTopic(config);
    trial.send(name, responses(0, 50));
    String sink = trial.deploy(config);
    trial.awaitRows(name, 20);
    return sink;
  }

  private void end(String sink, String name, int events) {
    trial.awaitRows(name, events);
    LakeFaultsTest.assertOnceEach(trial, name, events);
    assertThat(trial.counted("firstlight.feedback.dead.letters")).isZero();
    trial.undeploy(sink);
  }

  private static List<Event> responses(int first, int count) {
    return IntStream.range(first, first + count).mapToObj(TestEvents::response).toList();
  }
}
