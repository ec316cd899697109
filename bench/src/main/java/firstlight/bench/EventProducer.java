package firstlight.bench;

import firstlight.protocol.wire.Event;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Puts Events on a topic, as many on each partition, and counts what the lake must have later. */
final class EventProducer {
  private final String bootstrap;

  /**
   * What was produced.
   *
   * @param bytes of all records' values
   * @param counts by kind
   */
  record Produced(
      long events,
      long bytes,
      Map<Event.BodyCase, Long> counts,
      long promptTokens,
      long outputTokens,
      long tokenIds) {}

  EventProducer(String bootstrap) {
    this.bootstrap = bootstrap;
  }

  /**
   * Returns when Kafka has all.
   *
   * @throws BenchFailure it does not take one
   */
  Produced produce(String topic, long count, Supplier<Event> events) {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            bootstrap,
            "acks",
            "all",
            "compression.type",
            "zstd",
            "linger.ms",
            20,
            "batch.size",
            256 << 10);
    AtomicReference<@Nullable Exception> failed = new AtomicReference<>();
    Totals totals = new Totals();
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      for (long i = 0; i < count && failed.get() == null; i++) {
        Event event = events.get();
        byte[] value = event.toByteArray();
        totals.add(event, value.length);
        producer.send(
            new ProducerRecord<>(topic, (int) (i % EventServices.PARTITIONS), key(event), value),
            (_, failure) -> failed.compareAndSet(null, failure));
      }
    }
    Exception failure = failed.get();
    if (failure != null) {
      throw new BenchFailure("Kafka does not take an event: " + failure.getMessage(), failure);
    }
    return totals.produced(count);
  }

  private static byte[] key(Event event) {
    return event.getSession().getBytes(StandardCharsets.UTF_8);
  }

  private static final class Totals {
    private final Map<Event.BodyCase, Long> counts = new EnumMap<>(Event.BodyCase.class);
    private long bytes;
    private long promptTokens;
    private long outputTokens;
    private long tokenIds;

    void add(Event event, int size) {
      bytes += size;
      counts.merge(event.getBodyCase(), 1L, Long::sum);
      if (event.hasResponse()) {
        promptTokens += event.getResponse().getPromptTokens();
        outputTokens += event.getResponse().getOutputTokens();
        tokenIds +=
            event.getResponse().getGenerationsList().stream()
                .mapToLong(generation -> generation.getTokenIdsCount())
                .sum();
      }
    }

    Produced produced(long events) {
      return new Produced(events, bytes, Map.copyOf(counts), promptTokens, outputTokens, tokenIds);
    }
  }
}
