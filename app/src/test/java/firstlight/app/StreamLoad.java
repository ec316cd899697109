package firstlight.app;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Many streams of chat completions at once, each followed by the next, some by feedback. Remembers
 * what must be in the lake for it, and what may be.
 */
final class StreamLoad implements AutoCloseable {
  private static final int FEEDBACK_ONE_IN = 4;
  private static final long AGAIN_NANOS = Duration.ofMillis(100).toNanos();
  private static final int PAUSE_SECONDS = 60;

  /**
   * What was sent.
   *
   * @param finished when each Response ended as it should, by its id; nanoseconds of this JVM
   * @param cut Responses of which not all came
   * @param accepted feedback that was answered with 202 or 200
   * @param unsure feedback that was sent and not accepted
   */
  record Sent(
      Map<String, Long> finished, Set<String> cut, Set<String> accepted, Set<String> unsure) {
    Sent() {
      this(
          new ConcurrentHashMap<>(),
          ConcurrentHashMap.newKeySet(),
          ConcurrentHashMap.newKeySet(),
          ConcurrentHashMap.newKeySet());
    }

    /** Of these it is known that they are lost. */
    void forgive(Set<String> lost) {
      finished.keySet().removeAll(lost);
      cut.addAll(lost);
    }

    /** What ended at a time or later may have been cut off from the lake by a fault. */
    void doubt(long nanos) {
      finished.forEach(
          (id, at) -> {
            if (at >= nanos) {
              finished.remove(id);
              cut.add(id);
            }
          });
    }
  }

  private final SseCalls calls;
  private final int tokens;
  private final Sent sent = new Sent();
  private final Semaphore running;
  private final int streams;
  private final AtomicLong numbers = new AtomicLong();
  private final Map<String, Integer> failures = new ConcurrentHashMap<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Random> randoms = new ArrayList<>();
  private volatile Latencies latencies = new Latencies();
  private volatile boolean closed;

  /**
   * Starts at once.
   *
   * @param tokens of each answer
   */
  StreamLoad(SseCalls calls, int streams, int tokens, long seed) {
    this.calls = calls;
    this.streams = streams;
    this.tokens = tokens;
    running = new Semaphore(streams, true);
    for (int i = 0; i < streams; i++) {
      Random random = new Random(seed + i);
      randoms.add(random);
      threads.submit(() -> stream(random));
    }
  }

  Sent sent() {
    return sent;
  }

  /** How often a stream did not end as it should since the last time, by what came instead. */
  Map<String, Integer> takeFailures() {
    Map<String, Integer> taken = Map.copyOf(failures);
    failures.keySet().removeAll(taken.keySet());
    return taken;
  }

  /** Lets it run for a time, and tells what the streams measured meanwhile. */
  Latencies run(Duration length) throws InterruptedException {
    Latencies now = begin();
    keepOn(length);
    end();
    return now;
  }

  /** What the streams measure from now on, until {@link #end}. */
  Latencies begin() {
    Latencies now = new Latencies();
    latencies = now;
    return now;
  }

  void end() {
    latencies = new Latencies();
  }

  /** Lets it go on for a time. */
  void keepOn(Duration length) throws InterruptedException {
    if (threads.awaitTermination(length.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new AssertionError("the load has ended");
    }
  }

  /** Returns when every stream has ended; none begins before {@link #resume}. */
  void pause() throws InterruptedException {
    if (!running.tryAcquire(streams, PAUSE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("the streams do not end");
    }
  }

  void resume() {
    running.release(streams);
  }

  private void stream(Random random) {
    while (!closed) {
      running.acquireUninterruptibly();
      try {
        if (!once(random)) {
          LockSupport.parkNanos(AGAIN_NANOS);
        }
      } finally {
        running.release();
      }
    }
  }

  private boolean once(Random random) {
    long number = numbers.incrementAndGet();
    // Of many lengths, so that they do not all begin at the same moment again and again.
    int length = tokens / 2 + random.nextInt(tokens);
    ObjectNode body = Served.chat("Tell me about number %d.".formatted(number), length);
    body.put("model", GlassNodeMain.MODEL).put("stream", true).put("ignore_eos", true);
    SseCalls.Streamed streamed = calls.stream("/v1/chat/completions", body, latencies);
    if (!streamed.whole()) {
      failures.merge(streamed.failure(), 1, Integer::sum);
      if (!streamed.id().isEmpty()) {
        sent.cut.add(streamed.id());
      }
      return false;
    }
    sent.finished.put(streamed.id(), System.nanoTime());
    if (random.nextInt(FEEDBACK_ONE_IN) == 0) {
      feedback(streamed.id(), "fb_" + number);
    }
    return true;
  }

  private void feedback(String response, String id) {
    ObjectNode body = Client.object("{\"name\":\"helpful\",\"data_type\":\"boolean\"}");
    body.put("id", id).put("value", true).putObject("target").put("response_id", response);
    int status = 0;
    try {
      status = calls.post("/v1/feedback", body);
    } catch (IOException _) {
      // Whether it was heard is not known.
    }
    (status == 202 || status == 200 ? sent.accepted : sent.unsure).add(id);
  }

  @Override
  public void close() {
    closed = true;
    threads.shutdownNow();
  }
}
