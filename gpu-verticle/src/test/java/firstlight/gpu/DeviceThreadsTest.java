package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class DeviceThreadsTest {
  @Test
  void all_threads_pass_each_barrier_together() {
    try (DeviceThreads threads = new DeviceThreads("test", 3)) {
      AtomicInteger arrived = new AtomicInteger();
      AtomicInteger early = new AtomicInteger();
      for (int run = 0; run < 20; run++) {
        arrived.set(0);
        threads.run(
            turn -> {
              for (int phase = 1; phase <= 50; phase++) {
                arrived.incrementAndGet();
                turn.barrier().await();
                if (arrived.get() < 3 * phase) {
                  early.incrementAndGet();
                }
                turn.barrier().await();
              }
            });
        assertThat(arrived).hasValue(150);
      }
      assertThat(early).hasValue(0);
    }
  }

  @Test
  void each_thread_has_its_share_and_together_they_have_all() {
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
      DeviceThreads.Work failing =
          turn -> {
            if (turn.share().part() == 2) {
              throw new IllegalArgumentException("planted");
            }
            turn.barrier().await();
          };
      assertThatThrownBy(() -> threads.run(failing))
          .isInstanceOf(IllegalStateException.class)
          .hasRootCauseMessage("planted");
      assertThatThrownBy(() -> threads.run(_ -> {})).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void a_sleeping_device_wakes_up() throws InterruptedException {
    try (DeviceThreads threads = new DeviceThreads("test-sleeper", 2)) {
      threads.run(_ -> {});
      while (Thread.getAllStackTraces().keySet().stream()
          .noneMatch(
              thread ->
                  thread.getName().equals("test-sleeper-1")
                      && thread.getState() == Thread.State.WAITING)) {
        Thread.onSpinWait();
      }
      AtomicInteger ran = new AtomicInteger();
      threads.run(_ -> ran.incrementAndGet());
      assertThat(ran).hasValue(2);
    }
  }
}
