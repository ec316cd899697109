package firstlight.feedback;

import io.vertx.core.Future;
import io.vertx.kafka.client.common.TopicPartition;

/** What the sink tells and asks Kafka about its place in a partition. */
interface Offsets {
  /** The first offset that is not in the lake yet; 0 when nothing was committed. */
  Future<Long> committed(TopicPartition partition);

  Future<Void> commit(TopicPartition partition, long next);

  /** Later polls begin there. */
  Future<Void> seek(TopicPartition partition, long offset);
}
