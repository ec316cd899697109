package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.LakeConfig;
import firstlight.protocol.IdSource;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Goal: a stop leaves no thread behind that connects, whenever it comes. */
@Timeout(60)
class StopWhileConnectingTest {
  /** A store that does not answer. */
  private static final class SilentLake implements LakeStore {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private volatile boolean closed;

    @Override
    public void prepare() throws IOException {
      asked.countDown();
      try {
        never.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }

    @Override
    public boolean create(String name, Path content) {
      throw new AssertionError(name);
    }

    @Override
    public boolean create(String name, byte[] content) {
      throw new AssertionError(name);
    }

    @Override
    public byte @Nullable [] read(String name) {
      throw new AssertionError(name);
    }

    @Override
    public void fetch(String name, Path to) {
      throw new AssertionError(name);
    }

    @Override
    public void delete(String name) {
      throw new AssertionError(name);
    }

    @Override
    public String uri(String name) {
      throw new AssertionError(name);
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @Test
  void a_stop_ends_the_attempt_and_waits_for_its_end(@TempDir Path folder) throws Exception {
    FeedbackConfig config =
        new FeedbackConfig(
            new FeedbackConfig.Kafka("127.0.0.1:1", "g", "t", "t.dead", true, 1, 1),
            LakeTrial.files(1, Duration.ofSeconds(1)),
            folder,
            Duration.ofMinutes(10));
    SilentLake lake = new SilentLake();
    Vertx vertx = Vertx.vertx();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    FeedbackVerticle sink =
        new FeedbackVerticle(
            config,
            LakeConfig.read(Settings.empty()),
            Time.system(),
            new IdSource(new Random(1)),
            meters,
            new FeedbackVerticle.Storage() {
              @Override
              public LakeStore store(LakeConfig ignored) {
                return lake;
              }
            });
    String deployment = LakeTrial.await(vertx.deployVerticle(sink));
    assertThat(lake.asked.await(30, TimeUnit.SECONDS)).isTrue();

    LakeTrial.await(vertx.undeploy(deployment));

    assertThat(lake.closed).isTrue();
    assertThat(meters.find("firstlight.feedback.errors").counters())
        .as("a stop is no error")
        .allMatch(counter -> counter.count() == 0);
    LakeTrial.await(vertx.close());
  }
}
