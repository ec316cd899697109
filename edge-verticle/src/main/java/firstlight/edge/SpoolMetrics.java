package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** What becomes of Events, counted. Thread-safe. */
final class SpoolMetrics {
  private final MeterRegistry registry;
  private final List<Meter> gauges = new ArrayList<>();

  SpoolMetrics(MeterRegistry registry) {
    this.registry = registry;
    // From the start, so that a rate over the first ones is right.
    EventRecords.kinds().forEach(this::sentOf);
  }

  /**
   * @param reason overflow: too many wait to be written; spool_full; memory_full; too_large;
   *     closed; unbuildable; refused: by Kafka, for what it is
   */
  void lost(String kind, String reason) {
    registry.counter("firstlight.events.lost", "kind", kind, "reason", reason).increment();
  }

  /** For an Event that was not built. */
  void lost(Importance importance, String reason) {
    lost(
        switch (importance) {
          case FEEDBACK -> "feedback";
          case USAGE -> "response";
          case FACT -> importance.name().toLowerCase(Locale.ROOT);
        },
        reason);
  }

  void sent(String kind) {
    sentOf(kind).increment();
  }

  private Counter sentOf(String kind) {
    return registry.counter("firstlight.events.sent", "kind", kind);
  }

  void shortened(String what) {
    registry.counter("firstlight.events.shortened", "what", what).increment();
  }

  void aborted() {
    registry.counter("firstlight.events.transactions.aborted").increment();
  }

  void corrupt() {
    registry.counter("firstlight.events.corrupt.frames").increment();
  }

  void gauge(String name, String description, Supplier<Number> value, String... tags) {
    gauges.add(Gauge.builder(name, value).description(description).tags(tags).register(registry));
  }

  /** Takes the gauges back: what they show is gone. */
  void close() {
    gauges.forEach(registry::remove);
  }
}
