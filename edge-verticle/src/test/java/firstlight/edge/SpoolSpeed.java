package firstlight.edge;

import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * How long the hand-over of a finished Response takes on an event loop, and how many a second come
 * from there to Kafka. A part of {@code ./firstlight bench events}, in a process of its own; it
 * prints the figures as one line of JSON.
 */
final class SpoolSpeed {
  private static final int DRAFTS = 512;
  private static final int TOKENS = 200;
  private static final int ROOM = 10_000;
  private static final int SECONDS = 3;
  private static final long LOOK_NANOS = 1_000_000;
  private static final double[] PERCENTS = {50, 99, 99.9};
  private static final Map<String, String> THREADS =
      Map.of(
          "making events", "firstlight-events-writer",
          "sending events", "firstlight-events-sender",
          "Kafka's producer", "kafka-producer");

  private final Vertx vertx = Vertx.vertx();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Map<String, Double> figures = new LinkedHashMap<>();
  private final List<EventDraft> drafts = new TypicalTurns().drafts(DRAFTS, TOKENS, Time.system());
  private final Events events;
  private volatile long handed;

  private SpoolSpeed(String bootstrap, String topic, Path spools) {
    IdSource ids = new IdSource(new Random());
    events = new SpoolEvents(vertx, config(bootstrap, topic, spools), Time.system(), ids, registry);
  }

  /**
   * Arguments: Kafka's address, a topic that is there, a folder for the spool, how many Events to
   * send as fast as they are taken, and hand-overs a second that are looked at, with commas between
   * them; none: 0.
   */
  public static void main(String[] arguments) throws Exception {
    SpoolSpeed speed = new SpoolSpeed(arguments[0], arguments[1], Path.of(arguments[2]));
    int count = Integer.parseInt(arguments[3]);
    int[] rates = Arrays.stream(arguments[4].split(",")).mapToInt(Integer::parseInt).toArray();
    speed.measure(count, rates);
    System.out.println(new ObjectMapper().writeValueAsString(speed.figures));
    // The line ends by itself, but nobody waits for it.
    System.exit(0);
  }

  private void measure(int count, int[] rates) throws Exception {
    double bytes = 0;
    for (EventDraft draft : drafts) {
      bytes += draft.build().getFirst().getSerializedSize();
    }
    figures.put("bytes an event", bytes / DRAFTS);
    // The compiler needs it, and so does whoever publishes for the first time.
    flood(count == 0 ? ROOM : Math.min(count, ROOM));
    untilSent();
    if (count > 0) {
      throughput(count);
    }
    for (int rate : rates) {
      if (rate > 0) {
        double before = sum("firstlight.events.lost");
        handOver(rate);
        untilSent();
        double lost = sum("firstlight.events.lost") - before;
        figures.put("hand-over at %,d/s, share given up".formatted(rate), lost / SECONDS / rate);
      }
    }
  }

  private void throughput(int count) throws Exception {
    Map<String, Double> before = new LinkedHashMap<>();
    THREADS.forEach((what, thread) -> before.put(what, cpuSeconds(thread)));
    long begin = System.nanoTime();
    flood(count);
    untilSent();
    figures.put("given up", sum("firstlight.events.lost"));
    figures.put("events/s", count / ((System.nanoTime() - begin) / 1e9));
    THREADS.forEach(
        (what, thread) ->
            figures.put(
                what + ", µs of CPU", (cpuSeconds(thread) - before.get(what)) * 1e6 / count));
  }

  private static EventsConfig config(String bootstrap, String topic, Path spools) {
    return new EventsConfig(
        bootstrap,
        topic,
        20_000,
        64 << 20,
        900 << 10,
        5_000,
        16 << 20,
        Duration.ofMillis(20),
        Duration.ofMillis(800),
        Duration.ofSeconds(30),
        new SpoolConfig(spools.toString(), 1 << 30, 8 << 20, 0, SpoolConfig.WhenFull.DETAIL));
  }

  /** Some every millisecond, as when Responses finish. */
  private void handOver(int rate) throws Exception {
    int count = SECONDS * rate;
    double[] micros = new double[count];
    CountDownLatch done = new CountDownLatch(1);
    long begin = System.nanoTime();
    int[] at = new int[1];
    vertx.setPeriodic(
        1,
        timer -> {
          long due = Math.min(count, (System.nanoTime() - begin) * rate / 1_000_000_000);
          while (at[0] < due) {
            EventDraft draft = drafts.get(at[0] % DRAFTS);
            long start = System.nanoTime();
            events.publish(draft);
            micros[at[0]++] = (System.nanoTime() - start) / 1e3;
          }
          if (at[0] == count && vertx.cancelTimer(timer)) {
            done.countDown();
          }
        });
    done.await();
    handed += count;
    Arrays.sort(micros);
    for (double percent : PERCENTS) {
      int rank = (int) Math.ceil(percent / 100 * count) - 1;
      String figure = "hand-over at %,d/s, p%s, µs".formatted(rate, plain(percent));
      figures.put(figure, micros[Math.clamp(rank, 0, count - 1)]);
    }
  }

  private static String plain(double percent) {
    return percent == Math.rint(percent) ? Long.toString((long) percent) : Double.toString(percent);
  }

  /** As many as there is room for. */
  private void flood(int count) throws Exception {
    CountDownLatch done = new CountDownLatch(count);
    vertx.setPeriodic(
        1,
        timer -> {
          double queued = registry.get("firstlight.events.queued").gauge().value();
          for (int i = 0; i < 1_000 && queued + i < ROOM && done.getCount() > 0; i++) {
            events.publish(drafts.get((int) (done.getCount() % DRAFTS)));
            done.countDown();
          }
          if (done.getCount() == 0) {
            vertx.cancelTimer(timer);
          }
        });
    done.await();
    handed += count;
  }

  /** CPU seconds of our threads and the producer's. */
  private static double cpuSeconds(String name) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long nanos = 0;
    for (long id : threads.getAllThreadIds()) {
      ThreadInfo info = threads.getThreadInfo(id);
      if (info != null && info.getThreadName().startsWith(name)) {
        nanos += threads.getThreadCpuTime(id);
      }
    }
    return nanos / 1e9;
  }

  /** What is handed over is counted in the end, in one way or the other. */
  private void untilSent() {
    while (sum("firstlight.events.sent") + sum("firstlight.events.lost") < handed) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private double sum(String name) {
    return registry.find(name).counters().stream().mapToDouble(one -> one.count()).sum();
  }
}
