package firstlight.feedback;

import firstlight.lake.DeadLetter;
import io.vertx.core.Future;
import io.vertx.kafka.client.producer.KafkaProducer;
import io.vertx.kafka.client.producer.KafkaProducerRecord;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;

/**
 * Where records go that are no Events: key and value as they were, and headers that say why and
 * where they lay. At least once: after a crash a record may be there twice, with the same headers.
 */
final class DeadLetters {
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
                        letter(dead, null)
                            .addHeader(DeadLetter.LEFT_OUT, Integer.toString(value.length)))
                    : Future.failedFuture(failure))
        .mapEmpty();
  }

  private KafkaProducerRecord<byte[], byte[]> letter(OpenBatch.Dead dead, byte @Nullable [] value) {
    ConsumerRecord<byte[], byte[]> record = dead.record();
    KafkaProducerRecord<byte[], byte[]> letter =
        KafkaProducerRecord.create(topic, record.key(), value);
    return letter
        .addHeader(DeadLetter.REASON, dead.reason().word())
        .addHeader(DeadLetter.TOPIC, record.topic())
        .addHeader(DeadLetter.PARTITION, Integer.toString(record.partition()))
        .addHeader(DeadLetter.OFFSET, Long.toString(record.offset()));
  }
}
