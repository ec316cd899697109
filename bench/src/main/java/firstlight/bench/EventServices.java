package firstlight.bench;

import firstlight.protocol.Time;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Kafka, PostgreSQL and an object store in a process of their own, as {@code up} brings them. */
final class EventServices implements AutoCloseable {
  static final int PARTITIONS = 4;
  private static final Duration POLL = Duration.ofSeconds(10);

  private final ServicesChild child;
  private final Admin admin;

  private EventServices(ServicesChild child) {
    this.child = child;
    admin = Admin.create(Map.of("bootstrap.servers", bootstrap()));
  }

  /**
   * Returns when they answer.
   *
   * @param folder takes their data; must be empty
   * @throws BenchFailure they do not start
   */
  static EventServices start(Path folder, Path log, Time time) {
    return new EventServices(ServicesChild.start(folder, log, time));
  }

  /** Where they are, by the names of the settings that say it. */
  Map<String, Object> settings() {
    return child.settings();
  }

  String bootstrap() {
    return Objects.requireNonNull(settings().get("edge.kafka.bootstrap")).toString();
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
    child.close();
  }
}
