package firstlight.edge;

import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes Kafka's producer. It looks names up, so it may block. */
final class EventProducers {
  /** How long a worker thread may wait for metadata, once for each Event while Kafka is away. */
  private static final int BLOCK_MS = 1_000;

  private static final int REQUEST_TIMEOUT_MS = 5_000;

  /** How long the producer itself tries again what it took; no repeat of its doubles anything. */
  private static final int DELIVERY_TIMEOUT_MS = 300_000;

  private static final int LINGER_MS = 5;
  private static final int RECONNECT_MAX_MS = 2_000;
  private static final int OVERHEAD_BYTES = 64 << 10;

  private EventProducers() {}

  static Producer<byte[], byte[]> open(EventsConfig config) {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            config.bootstrap(),
            "acks",
            "all",
            "enable.idempotence",
            true,
            "compression.type",
            "zstd",
            "linger.ms",
            LINGER_MS,
            "max.block.ms",
            BLOCK_MS,
            "request.timeout.ms",
            REQUEST_TIMEOUT_MS,
            "delivery.timeout.ms",
            DELIVERY_TIMEOUT_MS,
            "max.request.size",
            config.eventBytesMax() + OVERHEAD_BYTES,
            "reconnect.backoff.max.ms",
            RECONNECT_MAX_MS);
    Producer<byte[], byte[]> producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    try {
      // So that the first client does not wait for it.
      producer.partitionsFor(config.topic());
    } catch (KafkaException _) {
      // Kafka is away. The first send asks again.
    }
    return producer;
  }
}
