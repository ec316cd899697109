package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import firstlight.protocol.IdSource;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** A spool alone: without threads and without Kafka. */
final class SpoolFixture {
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  final SimulatedTime time = new SimulatedTime();
  final FaultyDisk disk = new FaultyDisk();
  final EventsConfig config;
  final SpoolTools tools;
  SpoolFolder folder;
  EventSpool spool;
  SpoolReader reader;
  private final Path parent;
  private final Vertx vertx;

  SpoolFixture(Path parent, Vertx vertx, SpoolConfig.WhenFull whenFull) throws IOException {
    this(parent, vertx, new SpoolConfig(parent.toString(), 256 << 10, 16 << 10, 0, whenFull));
  }

  SpoolFixture(Path parent, Vertx vertx, SpoolConfig spoolConfig) throws IOException {
    this(parent, vertx, spoolConfig, 64 << 10);
  }

  SpoolFixture(Path parent, Vertx vertx, SpoolConfig spoolConfig, int memoryBytes)
      throws IOException {
    this.parent = parent;
    this.vertx = vertx;
    config =
        new EventsConfig(
            "unused:1",
            "events",
            memoryBytes / 640,
            memoryBytes,
            64 << 10,
            100,
            1 << 20,
            Duration.ZERO,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            spoolConfig);
    tools = new SpoolTools(time, new SplittableRandom(1), disk, new SpoolMetrics(registry));
    open();
  }

  /** As a process does that begins. */
  void open() throws IOException {
    folder = SpoolFolder.own(parent, new IdSource(new Random(2)));
    spool = new EventSpool(config, tools);
    spool.recover(folder);
    reader = new SpoolReader(spool, tools.metrics());
    reader.seek(spool.sentBefore());
  }

  /** As a process that is killed: nothing is said to anybody. */
  void reopen() throws IOException {
    reader.close();
    folder.close();
    open();
  }

  void append(Event... events) {
    spool.append(Stream.of(events).map(event -> entry(event, null)).toList());
  }

  Acceptance accept(Event event) {
    Acceptance acceptance = new Acceptance(vertx.getOrCreateContext());
    spool.append(List.of(entry(event, acceptance)));
    return acceptance;
  }

  private static EventSpool.Entry entry(Event event, Acceptance acceptance) {
    return new EventSpool.Entry(event, Importance.of(event), acceptance);
  }

  /** All that can be read from here on; it counts as sent afterwards. */
  List<Event> take() throws IOException {
    return take(Integer.MAX_VALUE);
  }

  List<Event> take(int most) throws IOException {
    List<SpooledEvent> taken = new ArrayList<>();
    while (taken.size() < most) {
      SpooledEvent next = reader.next();
      if (next == null) {
        break;
      }
      taken.add(next);
    }
    if (!taken.isEmpty()) {
      spool.sent(taken, taken.getLast().next());
    }
    return taken.stream().map(SpooledEvent::event).toList();
  }

  List<Path> files(SpoolLane lane) throws IOException {
    try (Stream<Path> files = Files.list(folder.path())) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(lane.word() + "-"))
          .sorted()
          .toList();
    }
  }

  double counted(String name, String... tags) {
    return registry.find(name).tags(tags).counters().stream().mapToDouble(Counter::count).sum();
  }

  double lost(String reason) {
    return counted("firstlight.events.lost", "reason", reason);
  }
}
