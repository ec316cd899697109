package firstlight.feedback;

import firstlight.lake.EventDecoder;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.kafka.client.common.TopicPartition;
import java.util.List;
import java.util.function.DoubleSupplier;

/**
 * The sink's numbers. {@code firstlight.feedback.events} and its like become {@code
 * firstlight_feedback_events_total} where Prometheus reads them.
 */
final class FeedbackMetrics {
  private static final String PREFIX = "firstlight.feedback.";

  private final MeterRegistry registry;

  FeedbackMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /** A file is visible, and its offsets are committed. */
  void visible(ParquetFileWriter.Finished file) {
    String kind = file.folder().kind().word();
    registry.counter(PREFIX + "events", "kind", kind).increment(file.rows());
    registry.counter(PREFIX + "files", "kind", kind).increment();
    registry.counter(PREFIX + "bytes", "kind", kind).increment(file.bytes());
  }

  void dead(EventDecoder.Poison reason) {
    registry.counter(PREFIX + "dead.letters", "reason", reason.word()).increment();
  }

  /**
   * @param step what failed, and is tried again: connect, poll, write, upload, dead_letter, commit
   */
  void error(String step) {
    registry.counter(PREFIX + "errors", "step", step).increment();
  }

  /**
   * Shows a partition as long as this sink has it.
   *
   * @param lag Events on Kafka that are not visible yet
   * @param wait seconds that the oldest of them has been on Kafka; 0 when there is none
   * @param age seconds since the newest visible Event happened
   * @return what to give to {@link #hide}
   */
  List<Gauge> show(
      TopicPartition partition, DoubleSupplier lag, DoubleSupplier wait, DoubleSupplier age) {
    return List.of(
        gauge("lag.events", partition, lag),
        gauge("lag.seconds", partition, wait),
        gauge("visible.age.seconds", partition, age));
  }

  void hide(List<Gauge> gauges) {
    gauges.forEach(registry::remove);
  }

  private Gauge gauge(String name, TopicPartition partition, DoubleSupplier value) {
    return Gauge.builder(PREFIX + name, value::getAsDouble)
        .tag("topic", partition.getTopic())
        .tag("partition", Integer.toString(partition.getPartition()))
        .register(registry);
  }
}
