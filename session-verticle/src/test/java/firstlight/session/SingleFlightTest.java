package firstlight.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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

  @Test
  void a_question_that_cannot_be_started_fails_and_is_not_remembered() {
    Future<Integer> answer =
        flights.join(
            "a",
            () -> {
              throw new IllegalStateException("no");
            });
    assertThat(answer.cause()).hasMessage("no");
    assertThat(flights.inFlight()).isZero();
  }

  /** The answer comes from a thread that is nobody's. */
  @Test
  void everybody_hears_the_answer_on_the_own_context() throws InterruptedException {
    Vertx vertx = Vertx.vertx();
    try {
      List<Context> contexts = contexts(vertx, 4);
      Promise<Integer> answer = Promise.promise();
      AtomicInteger starts = new AtomicInteger();
      CountDownLatch asked = new CountDownLatch(contexts.size());
      List<Future<Context>> heard = new ArrayList<>();
      for (Context context : contexts) {
        Promise<Context> on = Promise.promise();
        heard.add(on.future());
        context.runOnContext(
            _ -> {
              flights
                  .join(
                      "a",
                      () -> {
                        starts.incrementAndGet();
                        return answer.future();
                      })
                  .onComplete(_ -> on.complete(Vertx.currentContext()));
              asked.countDown();
            });
      }
      assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
      answer.complete(7);
      assertThat(heard.stream().map(Wait::result).toList()).isEqualTo(contexts);
      assertThat(starts).hasValue(1);
    } finally {
      Wait.result(vertx.close());
    }
  }

  private static List<Context> contexts(Vertx vertx, int count) {
    List<Context> contexts = Collections.synchronizedList(new ArrayList<>());
    Wait.result(
        vertx.deployVerticle(
            () ->
                new VerticleBase() {
                  @Override
                  public Future<?> start() {
                    contexts.add(context);
                    return Future.succeededFuture();
                  }
                },
            new DeploymentOptions().setInstances(count)));
    return contexts;
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
