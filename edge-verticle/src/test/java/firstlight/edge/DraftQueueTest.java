package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.edge.EventDraft.Importance;
import firstlight.protocol.wire.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DraftQueueTest {
  @Test
  void the_last_room_is_for_what_matters_most() {
    DraftQueue queue = new DraftQueue(100, 1 << 20);

    assertThat(filled(queue, Importance.FACT, 1)).isEqualTo(80);
    assertThat(filled(queue, Importance.USAGE, 1)).isEqualTo(15);
    assertThat(filled(queue, Importance.FEEDBACK, 1)).isEqualTo(5);
    assertThat(queue.count()).isEqualTo(100);
  }

  @Test
  void bytes_are_bounded_too_and_given_back() {
    DraftQueue queue = new DraftQueue(1_000, 1_000);

    assertThat(filled(queue, Importance.FEEDBACK, 100)).isEqualTo(10);
    assertThat(queue.poll()).isNotNull();
    assertThat(filled(queue, Importance.FEEDBACK, 100)).isEqualTo(1);
    while (queue.poll() != null) {
      // All of it.
    }
    assertThat(filled(queue, Importance.FEEDBACK, 100)).isEqualTo(10);
  }

  @Test
  void what_was_handed_over_before_the_end_can_be_taken_and_nothing_after_it() {
    DraftQueue queue = new DraftQueue(10, 1_000);
    queue.offer(draft(Importance.FACT, 1), null);
    queue.close();

    assertThat(queue.offer(draft(Importance.FEEDBACK, 1), null)).isFalse();
    queue.await();
    assertThat(queue.poll()).isNotNull();
    assertThat(queue.poll()).isNull();
    queue.await();
  }

  @Test
  void whoever_takes_is_woken_for_many_who_hand_over() throws Exception {
    DraftQueue queue = new DraftQueue(1_000_000, 1 << 30);
    int threads = 4;
    int each = 20_000;
    CountDownLatch taken = new CountDownLatch(threads * each);
    List<Thread> running = new ArrayList<>();
    running.add(Thread.ofPlatform().start(() -> take(queue, taken)));
    for (int i = 0; i < threads; i++) {
      running.add(Thread.ofPlatform().start(() -> filled(queue, Importance.FACT, 1, each)));
    }

    assertThat(taken.await(20, TimeUnit.SECONDS)).isTrue();
    queue.close();
    for (Thread thread : running) {
      thread.join();
    }
    assertThat(queue.count()).isZero();
  }

  private static void take(DraftQueue queue, CountDownLatch taken) {
    while (taken.getCount() > 0) {
      queue.await();
      while (queue.poll() != null) {
        taken.countDown();
      }
    }
  }

  private static int filled(DraftQueue queue, Importance importance, int weight) {
    return filled(queue, importance, weight, 1_000);
  }

  private static int filled(DraftQueue queue, Importance importance, int weight, int most) {
    int in = 0;
    for (int i = 0; i < most; i++) {
      in += queue.offer(draft(importance, weight), null) ? 1 : 0;
    }
    return in;
  }

  private static EventDraft draft(Importance importance, int weight) {
    return new BuiltDraft(importance, weight, Event.getDefaultInstance());
  }
}
