package firstlight.session;

import firstlight.protocol.Time;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;

/** What can be seen of the session verticle from outside. Tags take a handful of values only. */
final class SessionMeters {
  private static final String LOOKUPS = "firstlight_session_lookups";

  private final MeterRegistry registry;
  private final Time time;

  SessionMeters(MeterRegistry registry, Time time) {
    this.registry = registry;
    this.time = time;
  }

  long now() {
    return time.nanos();
  }

  /**
   * One tier was asked for one chain.
   *
   * @param outcome hit: it had all that was missing; part; miss; error
   */
  void lookup(String tier, String outcome, long startNanos) {
    counter(LOOKUPS, "Tiers asked for a history", "tier", tier, "outcome", outcome).increment();
    Timer.builder("firstlight_session_lookup")
        .description("Time of one tier to answer")
        .tag("tier", tier)
        .publishPercentileHistogram()
        .register(registry)
        .record(time.nanos() - startNanos, TimeUnit.NANOSECONDS);
  }

  /** A tier that is away was not even asked. */
  void spared(String tier) {
    counter(LOOKUPS, "Tiers asked for a history", "tier", tier, "outcome", "spared").increment();
  }

  /** A tier was not asked for a turn that it did not have a moment ago. */
  void unknown(String tier) {
    counter(LOOKUPS, "Tiers asked for a history", "tier", tier, "outcome", "unknown").increment();
  }

  /**
   * A message was answered.
   *
   * @param operation a word for the kind of message, such as find, store or delete
   * @param outcome ok, or the kind of the failure
   */
  void answered(String operation, String outcome, long startNanos) {
    Timer.builder("firstlight_session_requests")
        .description("Time from a message to its answer")
        .tag("operation", operation)
        .tag("outcome", outcome)
        .publishPercentileHistogram()
        .register(registry)
        .record(time.nanos() - startNanos, TimeUnit.NANOSECONDS);
  }

  /** A request to a tier failed. */
  void failed(String tier) {
    counter("firstlight_session_tier_errors", "Requests to a tier that failed", "tier", tier)
        .increment();
  }

  /** Shows whether a tier is away. */
  void away(String tier, Outage outage) {
    Gauge.builder("firstlight_session_tier_away", outage, it -> it.away() ? 1 : 0)
        .description("1 while the tier is away")
        .tag("tier", tier)
        .register(registry);
  }

  /** Shows the size of the local cache. */
  void size(LocalTurnStore local) {
    Gauge.builder("firstlight_session_cache_entries", local, LocalTurnStore::size)
        .description("Turns in the memory of this node")
        .register(registry);
  }

  /** Shows how many turns are known not to exist. */
  void size(UnknownTurns unknown) {
    Gauge.builder("firstlight_session_unknown_entries", unknown, UnknownTurns::size)
        .description("Turns that PostgreSQL did not have a moment ago, in the memory of this node")
        .register(registry);
  }

  private Counter counter(String name, String description, String... tags) {
    return Counter.builder(name).description(description).tags(tags).register(registry);
  }
}
