package firstlight.bench;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Kafka's producer tool on a topic like ours.
 *
 * @param bytes of a record; known once ours was measured
 */
record KafkaProducing(String name, EventBench bench, int records, AtomicInteger bytes)
    implements Contestant {
  @Override
  public Map<String, Double> measure() {
    String topic = bench.fresh("tool");
    bench.services().createTopic(topic);
    try {
      double rate = bench.tool("producer-tool").produce(topic, records, bytes.get());
      return Map.of(EventBench.RATE, rate);
    } finally {
      bench.services().deleteTopic(topic);
    }
  }
}
