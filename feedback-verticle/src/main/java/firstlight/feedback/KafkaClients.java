package firstlight.feedback;

import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes the clients. Looks names up, so it may block: for worker threads only. */
final class KafkaClients {
  // What a poll may bring bounds what a sink holds in memory beside its open files.
  private static final int FETCH_BYTES = 8 << 20;
  private static final int PARTITION_FETCH_BYTES = 1 << 20;

  /** Members hear of each other that often, so partitions change hands quickly. */
  private static final int HEARTBEAT_MS = 1_000;

  /** So long the partitions of one that was killed wait; Kafka's own default is 45 s. */
  private static final int SESSION_MS = 10_000;

  private static final int REQUEST_BYTES = 16 << 20;
  private static final int BLOCK_MS = 5_000;
  private static final int RECONNECT_MAX_MS = 5_000;

  private KafkaClients() {}

  static Consumer<byte[], byte[]> consumer(FeedbackConfig.Kafka config) {
    // The edge sends in transactions; Events of one that was given up are not read.
    Map<String, Object> settings =
        Map.ofEntries(
            Map.entry("bootstrap.servers", config.bootstrap()),
            Map.entry("group.id", config.group()),
            Map.entry("enable.auto.commit", false),
            Map.entry("auto.offset.reset", "earliest"),
            Map.entry("isolation.level", "read_committed"),
            Map.entry("heartbeat.interval.ms", HEARTBEAT_MS),
            Map.entry("session.timeout.ms", SESSION_MS),
            Map.entry("partition.assignment.strategy", CooperativeStickyAssignor.class.getName()),
            Map.entry("max.partition.fetch.bytes", PARTITION_FETCH_BYTES),
            Map.entry("fetch.max.bytes", FETCH_BYTES),
            Map.entry("reconnect.backoff.max.ms", RECONNECT_MAX_MS));
    return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** For dead letters, which are few and may be the first of a topic that was just made. */
  static Producer<byte[], byte[]> producer(FeedbackConfig.Kafka config) {
    // With more in flight the second request to a new topic may be taken before the first, which
    // is then refused until it times out after two minutes (KAFKA-15591).
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            config.bootstrap(),
            "max.in.flight.requests.per.connection",
            1,
            "acks",
            "all",
            "enable.idempotence",
            true,
            "compression.type",
            "zstd",
            "max.request.size",
            REQUEST_BYTES,
            "max.block.ms",
            BLOCK_MS,
            "reconnect.backoff.max.ms",
            RECONNECT_MAX_MS);
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }
}
