package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.NodeId;
import firstlight.protocol.Numerics;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.SimulatedTime;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Goal: reports, expiry and the choice among replicas. Method: simulated time. */
class ReplicasTest {
  private final SimulatedTime time = new SimulatedTime();
  private final Replicas replicas = new Replicas(time, Duration.ofMillis(1_500));

  private static ReplicaReport report(
      String id, String model, int contextMax, long outstanding, boolean draining) {
    Numerics numerics = new Numerics("glass", "x", 0, "digest");
    return report(id, model, contextMax, outstanding, draining, numerics);
  }

  private static ReplicaReport report(
      String id,
      String model,
      int contextMax,
      long outstanding,
      boolean draining,
      Numerics numerics) {
    return new ReplicaReport(
        new ReplicaId(id),
        new NodeId("n"),
        "127.0.0.1",
        1,
        new DeviceCapacity(model, 100, 16, 64, contextMax, 100, numerics),
        0,
        0,
        1,
        outstanding,
        draining);
  }

  private void heard(String id, long outstanding) {
    replicas.heard(report(id, "m", 100, outstanding, false));
  }

  private static final Placement.Need NEED = new Placement.Need(50, null);

  private Optional<String> chosen() {
    return Placement.choose(replicas.of("m"), NEED, _ -> true)
        .map(report -> report.replica().value());
  }

  @Test
  void the_one_with_the_fewest_tokens_to_compute_is_chosen() {
    heard("r1", 500);
    heard("r2", 100);
    heard("r3", 300);

    assertThat(chosen()).contains("r2");
  }

  @Test
  void what_was_just_sent_counts_until_the_report_after_next() {
    heard("r1", 100);
    heard("r2", 200);
    replicas.sent(new ReplicaId("r1"), 150);
    assertThat(chosen()).contains("r2");

    heard("r1", 100);
    assertThat(chosen()).as("this report may have crossed the submission").contains("r2");

    heard("r1", 100);
    assertThat(chosen()).contains("r1");
  }

  @Test
  void draining_small_unreachable_and_other_models_replicas_are_passed_over() {
    replicas.heard(report("draining", "m", 100, 0, true));
    replicas.heard(report("small", "m", 49, 0, false));
    replicas.heard(report("other", "x", 100, 0, false));
    heard("far", 0);
    assertThat(
            Placement.choose(
                replicas.of("m"), NEED, report -> !report.replica().value().equals("far")))
        .isEmpty();

    heard("near", 900);
    assertThat(
            Placement.choose(
                    replicas.of("m"), NEED, report -> !report.replica().value().equals("far"))
                .map(report -> report.replica().value()))
        .contains("near");
  }

  @Test
  void a_context_that_the_memory_does_not_hold_does_not_count() {
    heard("r1", 0);
    assertThat(Placement.choose(replicas.of("m"), new Placement.Need(101, null), _ -> true))
        .isEmpty();
  }

  @Test
  void what_has_begun_goes_on_with_the_same_numerics_where_it_can() {
    heard("r1", 500);
    replicas.heard(report("r2", "m", 100, 0, false, new Numerics("glass", "y", 0, "digest")));
    Numerics begun = replicas.of("m").getFirst().report().capacity().numerics();
    Placement.Need need = new Placement.Need(50, begun);
    assertThat(Placement.choose(replicas.of("m"), need, _ -> true).orElseThrow().replica())
        .isEqualTo(new ReplicaId("r1"));
    Predicate<ReplicaReport> others = report -> !report.replica().equals(new ReplicaId("r1"));
    assertThat(Placement.choose(replicas.of("m"), need, others).orElseThrow().replica())
        .isEqualTo(new ReplicaId("r2"));
  }

  @Test
  void one_that_is_silent_for_too_long_is_forgotten() {
    heard("r1", 0);
    time.advance(Duration.ofMillis(1_000));
    heard("r2", 0);
    time.advance(Duration.ofMillis(501));

    assertThat(replicas.expire()).containsExactly(new ReplicaId("r1"));
    assertThat(replicas.of("m")).hasSize(1);
    assertThat(replicas.expire()).isEmpty();
  }

  @Test
  void the_context_is_that_of_the_largest_replica() {
    assertThat(replicas.positionsMax("m")).isZero();
    replicas.heard(report("r1", "m", 64, 0, false));
    replicas.heard(report("r2", "m", 128, 0, false));

    assertThat(replicas.positionsMax("m")).isEqualTo(128);
  }
}
