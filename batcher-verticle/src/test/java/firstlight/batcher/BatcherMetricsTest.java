package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import firstlight.protocol.Usage;
import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatcherMetricsTest {
  private static final GenerationId ID = new GenerationId("g");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final BatcherMetrics metrics =
      new BatcherMetrics(registry, Tags.of("model_name", "m", "replica", "r"));

  @Test
  void prometheus_sees_the_names_of_vllm() {
    Counts counts = new Counts();
    counts.preemptions = 3;
    metrics.count(counts);
    metrics.gauge("vllm:num_requests_running", () -> 7);
    int[] two = {1, 2};
    metrics.planned(
        new RunStep(
            1, List.of(new Slice(ID, two, 0, new int[1], 0, Sampling.GREEDY, 1, new int[0]))));
    assertThat(registry.scrape())
        .contains("vllm:num_requests_running{model_name=\"m\",replica=\"r\"} 7.0")
        .contains("vllm:num_preemptions_total{model_name=\"m\",replica=\"r\"} 3.0")
        .contains("vllm:prefix_cache_queries_total{", "vllm:prefix_cache_hits_total{")
        // A histogram's name can not end in _total with this library.
        .contains("vllm:iteration_tokens_sum{model_name=\"m\",replica=\"r\"} 2.0")
        .contains("firstlight:replica_queue_time_seconds_bucket{");
  }

  @Test
  void every_outcome_is_counted_once_under_its_reason() {
    metrics.outcome(new Outcome.Ended(ID, FinishReason.STOP, Usage.NONE, new byte[0]));
    metrics.outcome(
        new Outcome.Refused(ID, new MeshException(FailureKind.OVERLOADED, "overloaded", "Full.")));
    metrics.outcome(new Outcome.Emitted(ID, List.of(), new byte[0], 0, true, 0, 40));
    metrics.outcome(new Outcome.Emitted(ID, List.of(), new byte[0], 1, false, 0, 0));
    assertThat(registry.scrape())
        .contains("finished_reason=\"stop\",model_name=\"m\",replica=\"r\"} 1.0")
        .contains("finished_reason=\"length\",model_name=\"m\",replica=\"r\"} 0.0")
        .contains("reason=\"overloaded\",replica=\"r\"} 1.0")
        .contains("firstlight:replica_refusals_total{code=\"overloaded\",model_name=\"m\"")
        .contains("firstlight:replica_queue_time_seconds_count{model_name=\"m\",replica=\"r\"} 1")
        .contains("firstlight:replica_queue_time_seconds_sum{model_name=\"m\",replica=\"r\"} 0.04");
  }

  @Test
  void a_replica_that_is_gone_shows_nothing() {
    metrics.close();
    assertThat(registry.scrape()).doesNotContain("vllm:", "firstlight:");
  }
}
