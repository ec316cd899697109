package firstlight.bench;

import java.util.Map;

/** Kafka's consumer tool on the topic that the sink reads. */
record KafkaConsuming(String name, EventBench bench, String topic, int records)
    implements Contestant {
  @Override
  public Map<String, Double> measure() {
    double rate = bench.tool("consumer-tool").consume(topic, bench.fresh("tool"), records);
    return Map.of(EventBench.RATE, rate);
  }
}
