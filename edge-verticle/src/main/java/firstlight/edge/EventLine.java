package firstlight.edge;

import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one way of a process's Events to Kafka: queue, spool, and the threads between them. All edge
 * instances share it; the last one that leaves ends it. Thread-safe.
 */
final class EventLine implements Shareable {
  private static final Logger LOG = LoggerFactory.getLogger(EventLine.class);
  private static final String NAME = "firstlight.edge.events";
  private static final long FOLDER_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long STOP_MILLIS_MAX = 500;

  private final EventsConfig config;
  private final SpoolTools tools;
  private final IdSource ids;
  private final DraftQueue queue;
  private final EventSpool spool;
  private final Nap nap;
  private final Promise<Void> ended = Promise.promise();
  private final Thread writer;
  private @Nullable SpoolFolder folder;
  private long folderTriedNanos;
  private volatile @Nullable EventForwarder forwarder;
  private int users;

  private EventLine(EventsConfig config, SpoolTools tools) {
    this.config = config;
    this.tools = tools;
    ids = new IdSource(tools.random().split());
    queue = new DraftQueue(config.waitingMax(), config.waitingBytesMax());
    spool = new EventSpool(config, tools);
    nap = new Nap(tools.time());
    writer = Thread.ofPlatform().daemon().name("firstlight-events-writer").unstarted(this::run);
    gauges();
  }

  /** The one of this process with these settings; {@link #leave} gives it back. */
  static EventLine join(
      Vertx vertx, EventsConfig config, Time time, IdSource ids, MeterRegistry registry) {
    return lines(vertx)
        .compute(
            key(config),
            (_, there) -> {
              EventLine line = there;
              if (line == null) {
                SplittableRandom random = new SplittableRandom(ids.seed());
                SpoolMetrics metrics = new SpoolMetrics(registry);
                line =
                    new EventLine(config, new SpoolTools(time, random, SpoolDisk.real(), metrics));
                line.writer.start();
              }
              line.users++;
              return line;
            });
  }

  /** Ends it if nobody else has it: what is on the disk waits there for the next process. */
  Future<Void> leave(Vertx vertx) {
    EventLine[] others = new EventLine[1];
    others[0] =
        lines(vertx).computeIfPresent(key(config), (_, there) -> --there.users == 0 ? null : there);
    if (others[0] == this) {
      return Future.succeededFuture();
    }
    queue.close();
    Duration limit = config.closeLimit().plusMillis(2 * STOP_MILLIS_MAX);
    return ended
        .future()
        .timeout(limit.toMillis(), TimeUnit.MILLISECONDS)
        .recover(
            _ -> {
              LOG.warn("Events did not come to an end in time; they are on the disk, if there");
              return Future.succeededFuture();
            });
  }

  DraftQueue queue() {
    return queue;
  }

  SpoolMetrics metrics() {
    return tools.metrics();
  }

  EventsConfig config() {
    return config;
  }

  private static Map<String, EventLine> lines(Vertx vertx) {
    return vertx.sharedData().getLocalMap(NAME);
  }

  private static String key(EventsConfig config) {
    return String.join("\n", config.bootstrap(), config.topic(), config.spool().folder());
  }

  /** The life of the writer's thread. */
  private void run() {
    try {
      String id = open();
      SpoolKafka kafka = new SpoolKafka(config, id);
      EventForwarder sender = new EventForwarder(spool, kafka, config, tools, nap);
      forwarder = sender;
      Thread sending = start("sender", sender::run);
      Nap adopterNap = new Nap(tools.time());
      SpoolAdopter adopter = new SpoolAdopter(config, tools, ids, adopterNap);
      Thread adopting = start("adopter", adopter::run);
      write(id);
      spool.seal();
      end(sending, nap);
      end(adopting, adopterNap);
      spool.abandonMemory();
      if (folder != null) {
        folder.close();
      }
    } catch (IOException e) {
      LOG.warn("The folder of Events was not given back: {}", e.toString());
    } finally {
      tools.metrics().close();
      ended.complete();
    }
  }

  private void write(String id) {
    SpoolWriter events =
        new SpoolWriter(queue, spool, config.eventBytesMax(), tools.metrics(), nap::wake);
    boolean more = true;
    while (more) {
      queue.await();
      if (!spool.hasFolder()) {
        move(id);
      }
      more = events.write() || !queue.isClosed();
    }
  }

  /** Returns the spool's id. */
  private String open() {
    String configured = config.spool().folder();
    if (!configured.isEmpty()) {
      try {
        SpoolFolder own = SpoolFolder.own(Path.of(configured), ids);
        folder = own;
        spool.recover(own);
        return own.id();
      } catch (IOException | RuntimeException e) {
        LOG.warn("Events are held in memory: {} can not be used: {}", configured, e.toString());
        folderTriedNanos = tools.time().nanos();
      }
    }
    return ids.next("");
  }

  /** Tries again to get a folder, once there was none. */
  private void move(String id) {
    String configured = config.spool().folder();
    long now = tools.time().nanos();
    if (configured.isEmpty() || now - folderTriedNanos < FOLDER_RETRY_NANOS) {
      return;
    }
    folderTriedNanos = now;
    try {
      SpoolFolder made = SpoolFolder.create(Path.of(configured), id);
      folder = made;
      spool.moveTo(made);
    } catch (IOException e) {
      LOG.debug("Events are still held in memory: {}", e.toString());
    }
  }

  private Thread start(String what, Runnable run) {
    return Thread.ofPlatform().daemon().name("firstlight-events-" + what).start(run);
  }

  private void end(Thread thread, Nap until) {
    long limit = config.closeLimit().toMillis();
    until.stop(TimeUnit.MILLISECONDS.toNanos(limit));
    try {
      thread.join(limit);
      thread.interrupt();
      thread.join(STOP_MILLIS_MAX);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void gauges() {
    SpoolMetrics metrics = tools.metrics();
    metrics.gauge("firstlight.events.queued", "Events that wait to be written", queue::count);
    metrics.gauge("firstlight.events.spool.events", "Events Kafka has not got", spool::waiting);
    for (SpoolLane lane : SpoolLane.values()) {
      metrics.gauge(
          "firstlight.events.spool.bytes",
          "Bytes of Events on the disk",
          () -> spool.bytes(lane),
          "lane",
          lane.word());
    }
    metrics.gauge(
        "firstlight.events.spool.age.seconds",
        "Age of the oldest Event Kafka has not got",
        this::ageSeconds);
  }

  private double ageSeconds() {
    EventForwarder sender = forwarder;
    long oldest = sender == null ? 0 : sender.oldestMillis();
    return oldest == 0 ? 0 : Math.max(0, tools.time().epochMillis() - oldest) / 1_000.0;
  }
}
