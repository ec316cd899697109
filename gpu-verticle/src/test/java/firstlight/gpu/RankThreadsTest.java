package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RankThreadsTest {
  private static final int COUNT = 4;

  private static RankThreads<AtomicReference<Thread>> threads() {
    return new RankThreads<>(COUNT, AtomicReference::new);
  }

  @Test
  void all_work_at_once_and_always_on_the_same_threads() {
    RankThreads<AtomicReference<Thread>> threads = threads();
    CyclicBarrier barrier = new CyclicBarrier(COUNT);
    threads.all(
        (_, own) -> {
          own.set(Thread.currentThread());
          await(barrier);
        });
    threads.all((_, own) -> assertThat(own.get()).isSameAs(Thread.currentThread()));
    assertThat(threads.of(0).get()).isSameAs(Thread.currentThread());
    threads.close(own -> assertThat(own.get()).isSameAs(Thread.currentThread()));
    assertThat(threads.of(1).get()).satisfies(RankThreadsTest::ends);
  }

  private static void ends(Thread thread) throws InterruptedException {
    thread.join(TimeUnit.SECONDS.toMillis(10));
    assertThat(thread.isAlive()).isFalse();
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(10, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void the_first_failure_is_told_when_all_have_ended() {
    RankThreads<AtomicReference<Thread>> threads = threads();
    CountDownLatch failed = new CountDownLatch(1);
    AtomicInteger ended = new AtomicInteger();
    assertThatThrownBy(
            () ->
                threads.all(
                    (rank, _) -> {
                      if (rank == 2) {
                        failed.countDown();
                        throw new IllegalStateException("first");
                      }
                      awaitQuietly(failed);
                      ended.incrementAndGet();
                    }))
        .hasMessage("first");
    assertThat(ended).hasValue(COUNT - 1);
    threads.close(_ -> {});
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void who_is_interrupted_still_waits_for_the_others() {
    RankThreads<AtomicReference<Thread>> threads = threads();
    AtomicInteger ended = new AtomicInteger();
    Thread.currentThread().interrupt();
    threads.all(
        (rank, _) -> {
          if (rank > 0) {
            ended.incrementAndGet();
          }
        });
    assertThat(ended).hasValue(COUNT - 1);
    assertThat(Thread.interrupted()).isTrue();
    threads.close(_ -> {});
  }

  @Test
  void the_least_and_the_first_are_given() {
    RankThreads<List<Long>> threads = new RankThreads<>(3, () -> List.of(7L));
    AtomicInteger next = new AtomicInteger(5);
    assertThat(threads.least(own -> own.getFirst() - next.getAndDecrement())).isEqualTo(2);
    assertThat(threads.<Long>first(List::getFirst)).isEqualTo(7);
    threads.close(_ -> {});
  }
}
