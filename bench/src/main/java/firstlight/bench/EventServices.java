package firstlight.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.protocol.Time;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Kafka, PostgreSQL and an object store in a process of their own, as {@code up} brings them. */
final class EventServices implements AutoCloseable {
  static final int PARTITIONS = 4;
  private static final int START_SECONDS = 120;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final Duration POLL = Duration.ofSeconds(10);

  private final Process process;
  private final Map<String, Object> settings;
  private final Admin admin;

  private EventServices(Process process, Map<String, Object> settings) {
    this.process = process;
    this.settings = settings;
    admin = Admin.create(Map.of("bootstrap.servers", bootstrap()));
  }

  /**
   * Returns when they answer.
   *
   * @param folder takes their data; must be empty
   * @throws BenchFailure they do not start
   */
  static EventServices start(Path folder, Path log, Time time) {
    List<String> command =
        JavaCommand.with(
            List.of("-Xmx1g"),
            "firstlight.app.Main",
            List.of(),
            "services",
            "--data",
            folder.toString());
    Process process = Child.serve(command, log);
    Path file = folder.resolve("services.json");
    long end = time.nanos() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!Files.isRegularFile(file)) {
      if (!process.isAlive() || time.nanos() > end) {
        Child.end(process);
        throw new BenchFailure(
            "the services do not start. Their last words:%n%s"
                .formatted(Child.lastWords(log, List.of())));
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    try {
      return new EventServices(process, settings(file));
    } catch (IOException e) {
      Child.end(process);
      throw new BenchFailure("%s can not be read: %s".formatted(file, e.getMessage()), e);
    }
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> settings(Path file) throws IOException {
    ObjectMapper json = new ObjectMapper();
    JsonNode settings = json.readTree(file.toFile()).path("settings");
    return json.convertValue(settings, Map.class);
  }

  /** Where they are, by the names of the settings that say it. */
  Map<String, Object> settings() {
    return settings;
  }

  String bootstrap() {
    return Objects.requireNonNull(settings.get("edge.kafka.bootstrap")).toString();
  }

  /** A topic as the system itself makes it. */
  void createTopic(String topic) {
    await(
        admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all(),
        "a topic can not be made");
  }

  void deleteTopic(String topic) {
    await(admin.deleteTopics(List.of(topic)).all(), "a topic can not be deleted");
  }

  /** Bytes of a topic on the broker's disk. */
  long bytes(String topic) {
    return await(admin.describeLogDirs(List.of(1)).allDescriptions(), "there are no log folders")
        .values()
        .stream()
        .flatMap(folders -> folders.values().stream())
        .flatMap(folder -> folder.replicaInfos().entrySet().stream())
        .filter(replica -> replica.getKey().topic().equals(topic))
        .mapToLong(replica -> replica.getValue().size())
        .sum();
  }

  /** Mean size of the values of some records that are there. */
  int valueBytes(String topic) {
    Map<String, Object> settings =
        Map.of("bootstrap.servers", bootstrap(), "isolation.level", "read_committed");
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          IntStream.range(0, PARTITIONS).mapToObj(one -> new TopicPartition(topic, one)).toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      int count = 0;
      long bytes = 0;
      for (var record : consumer.poll(POLL)) {
        bytes += record.value().length;
        count++;
      }
      return Math.toIntExact(bytes / Math.max(1, count));
    }
  }

  private static <T> T await(org.apache.kafka.common.KafkaFuture<T> future, String failure) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw new BenchFailure(failure + ": " + e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    }
  }

  @Override
  public void close() {
    admin.close();
    Child.end(process);
  }
}
