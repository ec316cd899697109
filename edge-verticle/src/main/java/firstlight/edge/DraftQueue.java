package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Drafts on their way from event loops to the thread that makes Events of them; bounded by count
 * and bytes. To hand over is a few steps in memory. The other thread is woken only for what
 * somebody waits for, or when it has slept long: otherwise it looks by itself every few
 * milliseconds, which also makes its writes larger.
 */
final class DraftQueue {
  private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final int NAPS_MAX = 100;
  private static final long SLEEP_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final int countMax;
  private final long bytesMax;
  private final Queue<Handed> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private volatile @Nullable Thread taker;
  private volatile boolean asleep;
  private volatile boolean closed;

  /**
   * What was handed over.
   *
   * @param weight in bytes, as it was when it was handed over
   * @param acceptance who waits for it
   */
  record Handed(EventDraft draft, int weight, @Nullable Acceptance acceptance) {}

  DraftQueue(int countMax, long bytesMax) {
    this.countMax = countMax;
    this.bytesMax = bytesMax;
  }

  /** Any thread. False: there is no room for it, or nobody takes any more. */
  boolean offer(EventDraft draft, @Nullable Acceptance acceptance) {
    Importance importance = draft.importance();
    int weight = draft.weight();
    boolean fits =
        Shares.allow(importance, bytes.addAndGet(weight), bytesMax)
            & Shares.allow(importance, count.incrementAndGet(), countMax);
    if (closed || !fits) {
      release(weight);
      return false;
    }
    queue.add(new Handed(draft, weight, acceptance));
    if (asleep || acceptance != null) {
      asleep = false;
      LockSupport.unpark(taker);
    }
    return true;
  }

  /** The next one; null: there is none. Its room is free at once. */
  @Nullable Handed poll() {
    Handed next = queue.poll();
    if (next != null) {
      release(next.weight());
    }
    return next;
  }

  /** Waits until there is something, or the queue is closed. Only the thread that takes. */
  void await() {
    taker = Thread.currentThread();
    for (int naps = 0; queue.isEmpty() && !closed; naps++) {
      if (naps < NAPS_MAX) {
        LockSupport.parkNanos(this, NAP_NANOS);
      } else {
        asleep = true;
        if (queue.isEmpty() && !closed) {
          LockSupport.parkNanos(this, SLEEP_NANOS);
        }
        asleep = false;
      }
    }
  }

  /** Nothing more gets in; what is there can still be taken. */
  void close() {
    closed = true;
    LockSupport.unpark(taker);
  }

  boolean isClosed() {
    return closed;
  }

  int count() {
    return count.get();
  }

  private void release(int weight) {
    bytes.addAndGet(-weight);
    count.decrementAndGet();
  }
}
