package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.wire.Submit;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Goal: an edge is ready when it has answered requests of its own, and nobody sees these. */
@Timeout(60)
class RehearsalTest {
  @Test
  void a_silent_replica_holds_readiness_up_as_long_as_the_limit_says() throws Exception {
    long before = System.nanoTime();
    EdgeFixture edge = new EdgeFixture("", "3s");

    assertThat(System.nanoTime() - before).isGreaterThan(Duration.ofSeconds(3).toNanos());
    Submit asked = edge.replica.nextSubmit();
    assertThat(asked.getTenant()).isEqualTo("rehearsal");
    assertThat(asked.getPromptCount()).isPositive();
    edge.close();
  }

  @Test
  void what_is_rehearsed_is_neither_counted_nor_published() throws Exception {
    EdgeFixture edge = new EdgeFixture("", "500ms");
    Waiting.until(() -> edge.metric("firstlight_edge_requests_running") == 0);

    assertThat(edge.events).isEmpty();
    assertThat(edge.metric("vllm:request_success_total")).isZero();
    assertThat(edge.metric("firstlight_requests_total")).isZero();
    assertThat(edge.saying("ok").chat("").status()).isEqualTo(200);
    assertThat(Waiting.forNext(edge.events).getTenant()).isEqualTo("a");
    assertThat(edge.metric("vllm:request_success_total")).isPositive();
    edge.close();
  }
}
