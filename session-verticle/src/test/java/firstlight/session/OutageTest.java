package firstlight.session;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.SimulatedTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class OutageTest {
  private final SimulatedTime time = new SimulatedTime();
  private final Outage outage = new Outage(time, Duration.ofSeconds(1), Duration.ofSeconds(10));

  @Test
  void a_service_that_answers_is_always_asked() {
    assertThat(outage.mayTry()).isTrue();
    assertThat(outage.succeeded()).isFalse();
    assertThat(outage.mayTry()).isTrue();
    assertThat(outage.away()).isFalse();
  }

  @Test
  void one_attempt_a_pause_goes_to_a_service_that_is_away() {
    outage.failed();
    assertThat(outage.mayTry()).isFalse();
    time.advance(Duration.ofMillis(999));
    assertThat(outage.mayTry()).isFalse();
    time.advance(Duration.ofMillis(1));
    assertThat(outage.mayTry()).isTrue();
    assertThat(outage.mayTry()).isFalse();
    time.advance(Duration.ofSeconds(1));
    assertThat(outage.mayTry()).isTrue();
  }

  @Test
  void the_first_success_ends_it_and_is_told_once() {
    outage.failed();
    assertThat(outage.away()).isTrue();
    assertThat(outage.succeeded()).isTrue();
    assertThat(outage.succeeded()).isFalse();
    assertThat(outage.mayTry()).isTrue();
  }

  @Test
  void the_log_hears_of_it_once_an_interval_even_if_it_comes_and_goes() {
    assertThat(outage.failed()).isTrue();
    assertThat(outage.failed()).isFalse();
    outage.succeeded();
    assertThat(outage.failed()).isFalse();
    time.advance(Duration.ofSeconds(10));
    assertThat(outage.failed()).isTrue();
  }
}
