package firstlight.edge;

import firstlight.protocol.EmbeddedKafka;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** One broker, spools beside it, and a reader that sees what consumers see. */
final class SpoolTrial {
  static final String TOPIC = "events";
  static final int PARTITIONS = 2;
  private static final Duration LONGEST = Duration.ofSeconds(90);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration VISIBLE = Duration.ofSeconds(3);

  final Vertx vertx = Vertx.vertx();
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  final int port;
  private final Path folder;
  private final List<SpoolEvents> opened = new ArrayList<>();
  private EmbeddedKafka kafka;

  SpoolTrial(Path folder) throws IOException {
    this.folder = folder;
    port = freePort();
  }

  /** Starts the broker; what it had before a stop is there again. */
  SpoolTrial kafka() throws Exception {
    kafka = EmbeddedKafka.start(folder.resolve("kafka"), port);
    topic(Map.of());
    return this;
  }

  void topic(Map<String, String> settings) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
      NewTopic topic = new NewTopic(TOPIC, PARTITIONS, (short) 1).configs(settings);
      admin.createTopics(List.of(topic)).all().get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw e;
      }
    }
  }

  void stopKafka() {
    kafka.close();
    kafka = null;
  }

  String bootstrap() {
    return "127.0.0.1:" + port;
  }

  Path spools() {
    return folder.resolve("spools");
  }

  EventsConfig config() {
    return config(bootstrap(), spools().toString());
  }

  EventsConfig config(int eventBytesMax) {
    return config(bootstrap(), spools().toString(), eventBytesMax);
  }

  static EventsConfig config(String bootstrap, String spools) {
    return config(bootstrap, spools, 64 << 10);
  }

  private static EventsConfig config(String bootstrap, String spools, int eventBytesMax) {
    return new EventsConfig(
        bootstrap,
        TOPIC,
        20_000,
        16 << 20,
        eventBytesMax,
        500,
        4 << 20,
        Duration.ofMillis(10),
        Duration.ofMillis(800),
        Duration.ofSeconds(3),
        new SpoolConfig(spools, 64 << 20, 256 << 10, 0, SpoolConfig.WhenFull.DETAIL));
  }

  SpoolEvents open() {
    return open(config());
  }

  SpoolEvents open(EventsConfig config) {
    SpoolEvents events =
        new SpoolEvents(vertx, config, Time.system(), new IdSource(new Random()), registry);
    opened.add(events);
    return events;
  }

  static void publish(Events events, Event event) {
    events.publish(BuiltDraft.of(event));
  }

  /** What is on Kafka and counts, by partition and in order. */
  List<Event> read() throws Exception {
    return read(bootstrap());
  }

  static List<Event> read(String bootstrap) throws Exception {
    List<Event> events = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> record : records(bootstrap)) {
      events.add(Event.parseFrom(record.value()));
    }
    return events;
  }

  static List<String> ids(List<Event> events) {
    return events.stream().map(Event::getId).toList();
  }

  /** What is committed: a commit becomes visible in one partition after the other. */
  static List<ConsumerRecord<byte[], byte[]>> records(String bootstrap) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> written = consumer(bootstrap, "read_uncommitted");
        KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap, "read_committed")) {
      Set<TopicPartition> all = Set.of(new TopicPartition(TOPIC, 0), new TopicPartition(TOPIC, 1));
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = written.endOffsets(all);
      // A transaction that is still open may hold it back.
      long limit = System.nanoTime() + VISIBLE.toNanos();
      while (all.stream().anyMatch(one -> consumer.position(one) < ends.get(one))
          && System.nanoTime() < limit) {
        consumer.poll(POLL).forEach(records::add);
      }
    }
    return records;
  }

  private static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, String isolation) {
    return new KafkaConsumer<>(
        Map.of("bootstrap.servers", bootstrap, "isolation.level", isolation),
        new ByteArrayDeserializer(),
        new ByteArrayDeserializer());
  }

  /** Longer than {@link Waiting} does: a transaction that is given up takes its time. */
  static void until(Callable<Boolean> condition) throws Exception {
    long begin = System.nanoTime();
    while (!condition.call()) {
      if (System.nanoTime() - begin > LONGEST.toNanos()) {
        throw new AssertionError("it did not come about within " + LONGEST);
      }
    }
  }

  /** How often that was counted, over all its tags. */
  double counted(String name, String... tags) {
    return registry.find(name).tags(tags).counters().stream().mapToDouble(Counter::count).sum();
  }

  double gauge(String name) {
    return registry.find(name).gauges().stream().mapToDouble(gauge -> gauge.value()).sum();
  }

  void close() throws Exception {
    for (SpoolEvents events : opened) {
      Waiting.on(events.close());
    }
    Waiting.on(vertx.close());
    if (kafka != null) {
      kafka.close();
    }
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
