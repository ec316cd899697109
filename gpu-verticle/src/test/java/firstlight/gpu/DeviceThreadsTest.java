package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class DeviceThreadsTest {
  private static final int PHASES = 50;
  private static final int UNITS = 1000;

  @Test
  void no_phase_begins_before_the_last_one_is_done_and_nothing_is_done_twice() {
    try (DeviceThreads threads = new DeviceThreads("test", 3)) {
      for (int run = 0; run < 20; run++) {
        int[] done = new int[UNITS];
        AtomicInteger wrong = new AtomicInteger();
        threads.run(
            PHASES,
            turn -> {
              for (int phase = 0; phase < PHASES; phase++) {
                int before = phase;
                turn.together(
                    share -> {
                      for (int unit = share.from(UNITS); unit < share.to(UNITS); unit++) {
                        // One far away belongs to another share, and probably another thread.
                        int other = done[(unit + UNITS / 2) % UNITS];
                        wrong.addAndGet(done[unit] == before && other >= before ? 0 : 1);
                        done[unit]++;
                      }
                    });
              }
            });
        assertThat(wrong).hasValue(0);
        assertThat(done).containsOnly(PHASES);
      }
    }
  }

  @Test
  void work_is_done_without_a_thread_that_is_held_up() throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    AtomicInteger shares = new AtomicInteger();
    try (DeviceThreads threads = new DeviceThreads("test", 2)) {
      threads.run(
          1,
          turn -> {
            if (turn.thread() == 1) {
              try {
                held.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            }
            turn.together(_ -> shares.incrementAndGet());
            if (turn.thread() == 1) {
              left.countDown();
            }
          });
      int all = shares.get();
      held.countDown();
      left.await();
      assertThat(shares).hasValue(all);
      assertThat(all).isGreaterThan(1);
    }
  }

  @Test
  void shares_are_runs_of_units_that_together_are_all() {
    for (int parts = 1; parts < 6; parts++) {
      for (int units = 0; units < 20; units++) {
        int next = 0;
        for (int part = 0; part < parts; part++) {
          Share share = new Share(part, parts);
          assertThat(share.from(units)).isEqualTo(next);
          next = share.to(units);
        }
        assertThat(next).isEqualTo(units);
      }
    }
  }

  @Test
  void a_failure_on_one_thread_ends_the_run_on_all_and_later_runs_too() {
    try (DeviceThreads threads = new DeviceThreads("test", 3)) {
      Consumer<Turn> failing =
          turn ->
              turn.together(
                  share -> {
                    if (share.part() == 5) {
                      throw new IllegalArgumentException("planted");
                    }
                  });
      assertThatThrownBy(() -> threads.run(1, failing))
          .isInstanceOf(IllegalStateException.class)
          .hasRootCauseMessage("planted");
      assertThatThrownBy(() -> threads.run(1, _ -> {})).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void a_sleeping_device_wakes_up() throws InterruptedException {
    try (DeviceThreads threads = new DeviceThreads("test-sleeper", 2)) {
      threads.run(1, _ -> {});
      while (Thread.getAllStackTraces().keySet().stream()
          .noneMatch(
              thread ->
                  thread.getName().equals("test-sleeper-1")
                      && thread.getState() == Thread.State.WAITING)) {
        Thread.onSpinWait();
      }
      CountDownLatch ran = new CountDownLatch(2);
      threads.run(1, _ -> ran.countDown());
      ran.await();
      assertThat(ran.getCount()).isZero();
    }
  }
}
