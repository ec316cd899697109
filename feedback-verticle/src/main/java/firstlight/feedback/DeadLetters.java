package firstlight.feedback;

import io.vertx.core.Future;
import io.vertx.kafka.client.producer.KafkaProducer;
import io.vertx.kafka.client.producer.KafkaProducerRecord;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;

/**
 * Where records go that are no Events: key and value as they were, and headers that say why and
 * where they lay. At least once: after a crash a record may be there twice, with the same headers.
 */
final class DeadLetters {
  static final String REASON = "firstlight-reason";
  static final String TOPIC = "firstlight-topic";
  static final String PARTITION = "firstlight-partition";
  static final String OFFSET = "firstlight-offset";

  /** The value's length, when it is too large to go along. */
  static final String LEFT_OUT = "firstlight-left-out-bytes";

  private final KafkaProducer<byte[], byte[]> producer;
  private final String topic;

  DeadLetters(KafkaProducer<byte[], byte[]> producer, String topic) {
    this.producer = producer;
    this.topic = topic;
  }

  /** Completes when all are durable. */
  Future<Void> send(List<OpenBatch.Dead> dead) {
    return Future.all(dead.stream().map(this::send).toList()).mapEmpty();
  }

  private Future<Void> send(OpenBatch.Dead dead) {
    byte[] value = dead.record().value();
    return producer
        .send(letter(dead, value))
        .recover(
            failure ->
                value != null && failure instanceof RecordTooLargeException
                    ? producer.send(
                        letter(dead, null).addHeader(LEFT_OUT, Integer.toString(value.length)))
                    : Future.failedFuture(failure))
        .mapEmpty();
  }

  private KafkaProducerRecord<byte[], byte[]> letter(OpenBatch.Dead dead, byte @Nullable [] value) {
    ConsumerRecord<byte[], byte[]> record = dead.record();
    KafkaProducerRecord<byte[], byte[]> letter =
        KafkaProducerRecord.create(topic, record.key(), value);
    return letter
        .addHeader(REASON, dead.reason().name().toLowerCase(Locale.ROOT))
        .addHeader(TOPIC, record.topic())
        .addHeader(PARTITION, Integer.toString(record.partition()))
        .addHeader(OFFSET, Long.toString(record.offset()));
  }
}
