package firstlight.edge;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka as one spool sees it: a transactional producer of its own, and the place where Kafka keeps
 * how far the spool was sent. All of it blocks, within limits.
 */
class SpoolKafka {
  private static final int BLOCK_MS = 5_000;
  private static final int REQUEST_TIMEOUT_MS = 4_000;
  private static final int DELIVERY_TIMEOUT_MS = 8_000;

  /** Readers wait so long for a process that died within a transaction and does not come back. */
  private static final int TRANSACTION_TIMEOUT_MS = 30_000;

  private static final int LINGER_MS = 5;
  private static final int BATCH_BYTES = 128 << 10;
  private static final int RECONNECT_MAX_MS = 2_000;
  private static final int OVERHEAD_BYTES = 64 << 10;
  private static final Duration CLOSE = Duration.ofMillis(200);

  private final EventsConfig config;
  private final String id;
  private final TopicPartition place;

  /**
   * @param id the spool's
   */
  SpoolKafka(EventsConfig config, String id) {
    this.config = config;
    this.id = id;
    place = new TopicPartition(config.topic(), 0);
  }

  /**
   * A producer that nobody else has: what an earlier one had begun is aborted or finished.
   *
   * @param oneByOne whether each record goes by itself, so that one which is refused is known
   */
  Producer<byte[], byte[]> open(boolean oneByOne) {
    Producer<byte[], byte[]> producer =
        new KafkaProducer<>(
            settings(oneByOne ? 1 : BATCH_BYTES),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    try {
      producer.initTransactions();
      return producer;
    } catch (RuntimeException e) {
      producer.close(CLOSE);
      throw e;
    }
  }

  /** Makes the position part of the producer's transaction. */
  void note(Producer<byte[], byte[]> producer, OffsetAndMetadata position) {
    producer.sendOffsetsToTransaction(Map.of(place, position), new ConsumerGroupMetadata(group()));
  }

  /** What was noted last in a transaction that was committed. */
  Optional<OffsetAndMetadata> position() {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            config.bootstrap(),
            "request.timeout.ms",
            REQUEST_TIMEOUT_MS,
            "default.api.timeout.ms",
            BLOCK_MS);
    Admin admin = Admin.create(settings);
    try {
      return Optional.ofNullable(
          admin
              .listConsumerGroupOffsets(
                  Map.of(
                      group(), new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(place))),
                  new ListConsumerGroupOffsetsOptions().requireStable(true))
              .partitionsToOffsetAndMetadata(group())
              .get(BLOCK_MS, TimeUnit.MILLISECONDS)
              .get(place));
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("how far the spool was sent is not known", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted", e);
    } finally {
      admin.close(CLOSE);
    }
  }

  /** Gives up whatever it has begun. */
  static void close(Producer<byte[], byte[]> producer) {
    // An interrupted thread would not wait for the producer's own.
    boolean interrupted = Thread.interrupted();
    producer.close(CLOSE);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private String group() {
    return "firstlight.spool." + id;
  }

  private Map<String, Object> settings(int batchBytes) {
    return Map.ofEntries(
        Map.entry("bootstrap.servers", config.bootstrap()),
        Map.entry("transactional.id", "firstlight-spool-" + id),
        Map.entry("acks", "all"),
        Map.entry("enable.idempotence", true),
        Map.entry("compression.type", "zstd"),
        Map.entry("linger.ms", LINGER_MS),
        Map.entry("batch.size", batchBytes),
        Map.entry("max.block.ms", BLOCK_MS),
        Map.entry("request.timeout.ms", REQUEST_TIMEOUT_MS),
        Map.entry("delivery.timeout.ms", DELIVERY_TIMEOUT_MS),
        Map.entry("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS),
        Map.entry("max.request.size", config.eventBytesMax() + OVERHEAD_BYTES),
        Map.entry("reconnect.backoff.max.ms", RECONNECT_MAX_MS));
  }
}
