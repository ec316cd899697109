package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.UpkeepReport;
import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class UpkeepTimerTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() throws Exception {
    get(vertx.close());
  }

  @Test
  void a_run_that_fails_is_followed_by_another() throws Exception {
    CountDownLatch runs = new CountDownLatch(3);
    UpkeepTimer timer =
        timer(
                20,
                () -> {
                  runs.countDown();
                  throw new IllegalStateException("the store is away");
                })
            .start();

    assertThat(runs.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    get(timer.stop(LIMIT));
  }

  @Test
  void of_several_in_a_process_one_runs_at_a_time() throws Exception {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch runs = new CountDownLatch(5);
    Callable<Optional<UpkeepReport>> upkeep =
        () -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          runs.countDown();
          new CountDownLatch(1).await(50, TimeUnit.MILLISECONDS);
          running.decrementAndGet();
          return Optional.empty();
        };
    UpkeepTimer one = timer(20, upkeep).start();
    UpkeepTimer two = timer(20, upkeep).start();

    assertThat(runs.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    get(one.stop(LIMIT));
    get(two.stop(LIMIT));
    assertThat(most).hasValue(1);
  }

  @Test
  void a_process_does_not_do_it_more_often_for_having_several() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(1);
    for (int i = 0; i < 8; i++) {
      timer(
              2000,
              () -> {
                runs.incrementAndGet();
                begun.countDown();
                return Optional.empty();
              })
          .start();
    }

    assertThat(begun.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    // All eight ticked at once; let the others end before counting.
    CountDownLatch later = new CountDownLatch(1);
    vertx.setTimer(500, _ -> later.countDown());
    assertThat(later.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(runs).hasValue(1);
  }

  @Test
  void a_stop_hurries_the_run_and_waits_no_longer_than_it_may() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch hurried = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    UpkeepTimer timer =
        new UpkeepTimer(
                vertx,
                Time.system(),
                Duration.ofMillis(20),
                () -> {
                  begun.countDown();
                  never.await();
                  return Optional.empty();
                },
                hurried::countDown)
            .start();
    assertThat(begun.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

    get(timer.stop(Duration.ofMillis(50)));

    assertThat(hurried.getCount()).isZero();
    never.countDown();
  }

  private UpkeepTimer timer(int everyMillis, Callable<Optional<UpkeepReport>> upkeep) {
    return new UpkeepTimer(vertx, Time.system(), Duration.ofMillis(everyMillis), upkeep, () -> {});
  }

  private static void get(Future<?> future) throws Exception {
    future.toCompletionStage().toCompletableFuture().get(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }
}
