package firstlight.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SingleFlightTest {
  private final SingleFlight<String, Integer> flights = new SingleFlight<>();
  private final List<Promise<Integer>> started = new ArrayList<>();

  @Test
  void equal_questions_share_one_answer() {
    Future<Integer> first = ask("a");
    Future<Integer> second = ask("a");
    Future<Integer> other = ask("b");
    assertThat(started).hasSize(2);
    started.getFirst().complete(7);
    assertThat(first.result()).isEqualTo(7);
    assertThat(second.result()).isEqualTo(7);
    assertThat(other.isComplete()).isFalse();
  }

  @Test
  void a_question_after_the_answer_starts_anew() {
    ask("a");
    started.getFirst().complete(7);
    assertThat(flights.inFlight()).isZero();
    assertThat(ask("a").isComplete()).isFalse();
    assertThat(started).hasSize(2);
  }

  @Test
  void a_failure_is_shared_and_not_remembered() {
    Future<Integer> first = ask("a");
    Future<Integer> second = ask("a");
    started.getFirst().fail("away");
    assertThat(first.failed()).isTrue();
    assertThat(second.failed()).isTrue();
    assertThat(flights.inFlight()).isZero();
  }

  @Test
  void nobody_joins_a_detached_flight_and_its_end_disturbs_no_later_one() {
    Future<Integer> early = ask("a");
    flights.detach();
    Future<Integer> late = ask("a");
    assertThat(started).hasSize(2);
    started.getFirst().complete(1);
    assertThat(early.result()).isEqualTo(1);
    assertThat(late.isComplete()).isFalse();
    assertThat(flights.inFlight()).isEqualTo(1);
  }

  private Future<Integer> ask(String question) {
    return flights.join(
        question,
        () -> {
          started.add(Promise.promise());
          return started.getLast().future();
        });
  }
}
