package firstlight.batcher;

import firstlight.batcher.Outcome.Emitted;
import firstlight.batcher.Outcome.Ended;
import firstlight.batcher.Outcome.Refused;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.RunStep;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * What a replica shows, under the names that vLLM uses, so that dashboards and gateways made for it
 * work here too. What an edge counts under such a name, as its clients see it, stands here once
 * more as the replica sees it, under {@code firstlight:replica_}. Gauges ask the scheduler when
 * they are read: they can not freeze at an old value.
 */
final class BatcherMetrics {
  private static final double[] TOKENS = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
  private static final Duration[] WAITS = {
    Duration.ofMillis(1), Duration.ofMillis(10), Duration.ofMillis(50), Duration.ofMillis(100),
    Duration.ofMillis(300), Duration.ofMillis(500), Duration.ofSeconds(1), Duration.ofMillis(1500),
    Duration.ofSeconds(2), Duration.ofSeconds(5), Duration.ofSeconds(10), Duration.ofSeconds(30)
  };

  private final MeterRegistry registry;
  private final Tags tags;
  private final List<Meter> meters = new ArrayList<>();
  private final DistributionSummary stepTokens;
  private final Timer queueTime;
  private final Map<FinishReason, Counter> ended = new EnumMap<>(FinishReason.class);
  private final Map<FailureKind, Counter> refused = new EnumMap<>(FailureKind.class);

  /** By the limit that was met: there are as many codes as the replica has words for. */
  private final Map<String, Counter> codes = new HashMap<>();

  /**
   * @param tags model_name and replica
   */
  BatcherMetrics(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
    this.stepTokens =
        kept(
            DistributionSummary.builder("vllm:iteration_tokens_total")
                .description("Tokens in a Step")
                .tags(tags)
                .serviceLevelObjectives(TOKENS)
                .register(registry));
    this.queueTime =
        kept(
            Timer.builder("firstlight:replica_queue_time")
                .description("Time from submission to the first Step")
                .tags(tags)
                .serviceLevelObjectives(WAITS)
                .register(registry));
    for (FinishReason reason : FinishReason.values()) {
      ended.put(reason, outcome("firstlight:replica_generations", "finished_reason", reason));
    }
    for (FailureKind kind : FailureKind.values()) {
      refused.put(kind, outcome("vllm:admission_rejections", "reason", kind));
    }
  }

  private Counter outcome(String name, String key, Enum<?> value) {
    return kept(
        Counter.builder(name)
            .tags(tags)
            .tag(key, value.name().toLowerCase(java.util.Locale.ROOT))
            .register(registry));
  }

  private Counter code(String code) {
    return kept(
        Counter.builder("firstlight:replica_refusals")
            .tags(tags)
            .tag("code", code)
            .register(registry));
  }

  /** Shows what has been counted. */
  void count(Counts counts) {
    counter("vllm:num_preemptions", counts, c -> c.preemptions);
    counter("vllm:prefix_cache_queries", counts, c -> c.prefixQueries);
    counter("vllm:prefix_cache_hits", counts, c -> c.prefixHits);
    counter("vllm:spec_decode_num_drafts", counts, c -> c.drafts);
    counter("vllm:spec_decode_num_draft_tokens", counts, c -> c.draftTokens);
    counter("vllm:spec_decode_num_accepted_tokens", counts, c -> c.acceptedTokens);
    counter("firstlight:replica_prompt_tokens", counts, c -> c.promptTokens);
    counter("firstlight:replica_generation_tokens", counts, c -> c.generationTokens);
  }

  private void counter(String name, Counts counts, ToDoubleFunction<Counts> value) {
    kept(FunctionCounter.builder(name, counts, value).tags(tags).register(registry));
  }

  void gauge(String name, Supplier<Number> value) {
    kept(Gauge.builder(name, value).tags(tags).strongReference(true).register(registry));
  }

  void planned(RunStep step) {
    stepTokens.record(step.tokens());
  }

  void outcome(Outcome outcome) {
    switch (outcome) {
      case Emitted emitted -> {
        if (emitted.first()) {
          queueTime.record(Duration.ofMillis(emitted.queuedMillis()));
        }
      }
      case Ended end -> ended.get(end.reason()).increment();
      case Refused refusal -> {
        refused.get(refusal.failure().kind()).increment();
        codes.computeIfAbsent(refusal.failure().code(), this::code).increment();
      }
    }
  }

  private <M extends Meter> M kept(M meter) {
    meters.add(meter);
    return meter;
  }

  /** A replica that is gone shows nothing any more. */
  void close() {
    meters.forEach(registry::remove);
  }
}
