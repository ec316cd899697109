package firstlight.feedback;

import io.vertx.core.Future;
import io.vertx.kafka.client.common.TopicPartition;
import io.vertx.kafka.client.consumer.KafkaConsumer;
import io.vertx.kafka.client.consumer.OffsetAndMetadata;
import java.util.Map;

/** The consumer group's offsets. */
final class KafkaOffsets implements Offsets {
  private final KafkaConsumer<byte[], byte[]> consumer;

  KafkaOffsets(KafkaConsumer<byte[], byte[]> consumer) {
    this.consumer = consumer;
  }

  @Override
  public Future<Long> committed(TopicPartition partition) {
    return consumer.committed(partition).map(found -> found == null ? 0L : found.getOffset());
  }

  @Override
  public Future<Void> commit(TopicPartition partition, long next) {
    return consumer.commit(Map.of(partition, new OffsetAndMetadata(next, ""))).mapEmpty();
  }

  @Override
  public Future<Void> seek(TopicPartition partition, long offset) {
    return consumer.seek(partition, offset);
  }
}
