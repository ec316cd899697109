package firstlight.edge;

import firstlight.protocol.MeshException;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.Usage;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Figures of the client's side, with vLLM's names where it has them, so that its dashboards and
 * autoscalers work unchanged. Every label has few values: a model that is not configured is counted
 * as {@code unknown}.
 */
final class EdgeMetrics {
  private static final Duration[] LATENCIES =
      Stream.of(1, 2, 5, 10, 20, 40, 80, 150, 300, 600, 1_000, 1_500, 2_500, 5_000, 10_000, 30_000)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);
  private static final Duration[] WHOLE_REQUESTS =
      Stream.of(20, 50, 100, 300, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);
  private static final String UNKNOWN = "unknown";

  private final MeterRegistry registry;
  private final EdgeModels models;

  EdgeMetrics(MeterRegistry registry, EdgeModels models) {
    this.registry = registry;
    this.models = models;
  }

  /** Shows what runs in this JVM, and how many replicas its edges know. */
  void gauges(EdgeTotals totals, Supplier<Number> replicas) {
    for (EdgeTotals.Count count : EdgeTotals.Count.values()) {
      gauge(count.gauge(), count.description(), () -> totals.now(count));
    }
    gauge("firstlight.edge.replicas", "Replicas known", replicas);
  }

  /** A request has been answered, whatever with. */
  void answered(String route, int status) {
    Tags tags = Tags.of("route", route, "status", String.valueOf(status));
    counter("firstlight.http.requests", "Requests answered, by route and status", tags).increment();
  }

  /** A generation was given to that replica. */
  void placed(ReplicaId replica) {
    Tags tags = Tags.of("replica", replica.value());
    counter("firstlight.edge.placements", "Generations, by the replica", tags).increment();
  }

  /** A generation lost its replica, and waits for another one. */
  void lost(String code) {
    Tags tags = Tags.of("reason", code);
    counter("firstlight.edge.moves", "Generations whose replica was lost", tags).increment();
  }

  /** Its next token came. */
  void wentOn(String model, long nanos) {
    timer("firstlight.edge.move.pause", "From a replica's loss to the next token", model, LATENCIES)
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  void firstToken(String model, long nanos) {
    timer("vllm:time_to_first_token", "From a request to its first token", model, LATENCIES)
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  void nextToken(String model, long nanos) {
    timer("vllm:inter_token_latency", "Between the pieces of an answer", model, LATENCIES)
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  void queued(String model, long millis) {
    timer("vllm:request_queue_time", "In a replica's waiting queue", model, LATENCIES)
        .record(millis, TimeUnit.MILLISECONDS);
  }

  /** One answer has ended: stop, length, abort or error. */
  void answer(String model, String reason) {
    Tags tags = Tags.of("model_name", known(model), "finished_reason", reason);
    counter("vllm:request_success", "Answers, by how they ended", tags).increment();
  }

  /** A request has ended in any way. */
  void finished(
      TurnRequest request,
      TurnAccount.Status status,
      @Nullable MeshException failure,
      Usage usage,
      long nanos) {
    String model = known(request.model());
    Tags tags = Tags.of("model_name", model);
    timer("vllm:e2e_request_latency", "From a request to its end", model, WHOLE_REQUESTS)
        .record(nanos, TimeUnit.NANOSECONDS);
    counter("vllm:prompt_tokens", "Prompt tokens", tags).increment(usage.prompt());
    counter("vllm:prompt_tokens_cached", "Prompt tokens found in the prefix cache", tags)
        .increment(usage.cached());
    counter("vllm:generation_tokens", "Tokens generated", tags).increment(usage.output());
    String outcome = status.name().toLowerCase(Locale.ROOT);
    Tags whole = tags.and("dialect", request.origin().dialect(), "outcome", outcome);
    counter("firstlight.requests", "Requests, by how they ended", whole).increment();
    if (failure != null) {
      error(failure);
    }
  }

  /** Something failed. */
  void error(MeshException failure) {
    Tags tags =
        Tags.of(
            "module",
            FailureFacts.domain(failure).word(),
            "kind",
            failure.kind().name().toLowerCase(Locale.ROOT));
    counter("firstlight.errors", "Failed requests, by the part that failed", tags).increment();
  }

  private String known(String model) {
    return models.has(model) ? model : UNKNOWN;
  }

  private Timer timer(String name, String description, String model, Duration[] buckets) {
    return Timer.builder(name)
        .description(description)
        .tags("model_name", known(model))
        .serviceLevelObjectives(buckets)
        .register(registry);
  }

  private void gauge(String name, String description, Supplier<Number> value) {
    Gauge.builder(name, value).description(description).register(registry);
  }

  private Counter counter(String name, String description, Tags tags) {
    return Counter.builder(name).description(description).tags(tags).register(registry);
  }
}
