package firstlight.edge;

import firstlight.protocol.EmbeddedKafka;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/**
 * How long the hand-over of an Event takes on an event loop, and how many Events a second come from
 * there to Kafka. Prints a line for each.
 */
final class SpoolSpeed {
  private static final int EVENTS = 100_000;
  private static final int TOKENS = 100;
  private static final int ROOM = 10_000;
  private static final List<String> THREADS =
      List.of("firstlight-events-writer", "firstlight-events-sender", "kafka-producer");

  private SpoolSpeed() {}

  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createTempDirectory("spool-speed");
    EmbeddedKafka kafka = EmbeddedKafka.start(folder.resolve("kafka"), 0);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrap()))) {
      admin.createTopics(List.of(new NewTopic("events", 2, (short) 1))).all().get();
    }
    Vertx vertx = Vertx.vertx();
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    EventsConfig config = config(kafka.bootstrap(), folder.resolve("spools"));
    SpoolEvents events =
        new SpoolEvents(vertx, config, Time.system(), new IdSource(new Random()), registry);
    Event event = SampleEvents.response(1, TOKENS);
    System.out.printf("an Event has %d bytes%n", event.getSerializedSize());
    for (int perMilli : new int[] {1, 5, 20}) {
      handOver(vertx, events, event, 20_000, perMilli);
    }
    untilSent(registry, 0);
    double before = sent(registry);
    double[] cpu = THREADS.stream().mapToDouble(SpoolSpeed::cpuSeconds).toArray();
    long begin = System.nanoTime();
    flood(vertx, events, event, registry);
    untilSent(registry, before + EVENTS);
    double seconds = (System.nanoTime() - begin) / 1e9;
    System.out.printf("%.0f events/s to Kafka%n", (sent(registry) - before) / seconds);
    for (int i = 0; i < cpu.length; i++) {
      double used = cpuSeconds(THREADS.get(i)) - cpu[i];
      System.out.printf("%s: %.1f us of CPU an Event%n", THREADS.get(i), used * 1e6 / EVENTS);
    }
    System.out.printf("%.0f were lost%n", lost(registry));
    events.close().toCompletionStage().toCompletableFuture().get();
    vertx.close().toCompletionStage().toCompletableFuture().get();
    kafka.close();
  }

  private static EventsConfig config(String bootstrap, Path spools) {
    return new EventsConfig(
        bootstrap,
        "events",
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
  private static void handOver(Vertx vertx, Events events, Event event, int count, int perMilli)
      throws Exception {
    long[] nanos = new long[count];
    CountDownLatch done = new CountDownLatch(1);
    int[] at = new int[1];
    vertx.setPeriodic(
        1,
        timer -> {
          for (int i = 0; i < perMilli && at[0] < count; i++) {
            EventDraft draft = EventDraft.of(event);
            long begin = System.nanoTime();
            events.publish(draft);
            nanos[at[0]++] = System.nanoTime() - begin;
          }
          if (at[0] == count && vertx.cancelTimer(timer)) {
            done.countDown();
          }
        });
    done.await();
    Arrays.sort(nanos);
    System.out.printf(
        "%d a ms: p50 %d ns, p99 %d ns, p99.9 %d ns, max %d ns%n",
        perMilli,
        nanos[count / 2],
        nanos[count / 100 * 99],
        nanos[count / 1000 * 999],
        nanos[count - 1]);
  }

  /** As many as there is room for. */
  private static void flood(Vertx vertx, Events events, Event event, SimpleMeterRegistry registry)
      throws Exception {
    CountDownLatch done = new CountDownLatch(EVENTS);
    vertx.setPeriodic(
        1,
        timer -> {
          double queued = registry.get("firstlight.events.queued").gauge().value();
          for (int i = 0; i < 1_000 && queued < ROOM && done.getCount() > 0; i++) {
            events.publish(EventDraft.of(event));
            done.countDown();
          }
          if (done.getCount() == 0) {
            vertx.cancelTimer(timer);
          }
        });
    done.await();
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

  private static void untilSent(SimpleMeterRegistry registry, double count) {
    double waiting = 1;
    while (waiting > 0 || sent(registry) + lost(registry) < count) {
      try {
        TimeUnit.MILLISECONDS.timedJoin(Thread.ofPlatform().start(() -> {}), 1);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      waiting = registry.get("firstlight.events.spool.events").gauge().value();
    }
  }

  private static double sent(SimpleMeterRegistry registry) {
    return sum(registry, "firstlight.events.sent");
  }

  private static double lost(SimpleMeterRegistry registry) {
    return sum(registry, "firstlight.events.lost");
  }

  private static double sum(SimpleMeterRegistry registry, String name) {
    return registry.find(name).counters().stream().mapToDouble(one -> one.count()).sum();
  }
}
