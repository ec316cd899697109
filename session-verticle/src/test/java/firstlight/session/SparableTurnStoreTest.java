package firstlight.session;

import static firstlight.session.Samples.PLENTY;
import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static firstlight.session.Wait.failure;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.SimulatedTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SparableTurnStoreTest {
  private final SimulatedTime time = new SimulatedTime();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final FakeTurnStore inner = FakeTurnStore.of(Samples.conversation("t", 2));
  private final SparableTurnStore store =
      new SparableTurnStore(
          "redis",
          inner,
          Duration.ofMillis(50),
          new Outage(time, Duration.ofSeconds(1), Duration.ofSeconds(10)),
          new SessionMeters(registry, time));

  @Test
  void it_passes_on_what_the_tier_answers() {
    assertThat(result(store.chain(key("t", "r2"), PLENTY))).hasSize(2);
    assertThat(result(store.keep(List.of(turn("t", "r3", "r2"))))).isEqualTo(1);
    assertThat(result(store.forget(key("t", "r3")))).isTrue();
    assertThat(away()).isZero();
  }

  @Test
  void a_tier_that_is_away_seems_empty_and_is_spared_until_the_next_attempt() {
    inner.failure = new IllegalStateException("connection refused");
    assertThat(result(store.chain(key("t", "r2"), PLENTY))).isEmpty();
    assertThat(away()).isEqualTo(1);
    assertThat(result(store.chain(key("t", "r2"), PLENTY))).isEmpty();
    assertThat(result(store.keep(List.of(turn("t", "r3", "r2"))))).isZero();
    assertThat(inner.calls).hasSize(1);
    inner.failure = null;
    time.advance(Duration.ofSeconds(1));
    assertThat(result(store.chain(key("t", "r2"), PLENTY))).hasSize(2);
    assertThat(result(store.keep(List.of(turn("t", "r3", "r2"))))).isEqualTo(1);
    assertThat(away()).isZero();
    assertThat(
            registry.get("firstlight_session_tier_errors").tag("tier", "redis").counter().count())
        .isEqualTo(1);
  }

  @Test
  void a_tier_that_does_not_answer_is_one_that_is_away() {
    inner.gate = Promise.promise();
    assertThat(result(store.chain(key("t", "r2"), PLENTY))).isEmpty();
    assertThat(away()).isEqualTo(1);
  }

  @Test
  void forgetting_is_tried_even_while_it_is_away_and_refused_if_that_fails() {
    inner.failure = new IllegalStateException("connection refused");
    result(store.chain(key("t", "r2"), PLENTY));
    MeshException refused = (MeshException) failure(store.forget(key("t", "r2")));
    assertThat(refused.kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(refused.retryAfterMillis()).isPositive();
    inner.failure = null;
    assertThat(result(store.forget(key("t", "r2")))).isTrue();
    assertThat(away()).isZero();
  }

  private double away() {
    return registry.get("firstlight_session_tier_away").tag("tier", "redis").gauge().value();
  }
}
