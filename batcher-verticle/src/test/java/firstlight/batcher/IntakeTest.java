package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.MeshException;
import firstlight.protocol.Priority;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who is let in: a device that takes a millisecond a token, and a second for the first one. */
class IntakeTest {
  private static final Duration LIMIT = Duration.ofSeconds(1);

  private final GlassReplica replica =
      new GlassReplica(
          new SchedulerLimits(
              64,
              100,
              100,
              1_000,
              100_000,
              LIMIT,
              Duration.ofSeconds(300),
              true,
              GlassReplica.RETENTION,
              0,
              new SharePolicy(Duration.ofMillis(100), 5_000, 0.5, 1, 0, 16)),
          GlassDevice.of(4_096, 4, 100));

  private int others;

  /** Some prompts, so that the cost of a token is known. */
  private void learn() {
    for (int i = 0; i < 10; i++) {
      replica.submit(of("a", 40 + i));
      step();
    }
    while (step()) {}
  }

  private boolean step() {
    return replica
        .plan()
        .map(
            step -> {
              replica.time.advance(Duration.ofMillis(step.tokens()));
              replica.apply(step);
              return true;
            })
        .orElse(false);
  }

  private GenerationSpec of(String tenant, int prompt) {
    String id = tenant + others++;
    return Specs.of(id, tenant, Specs.prompt(id.hashCode(), prompt), 1);
  }

  /** Backlog of a tenant, so many times a hundred milliseconds. */
  private void backlog(String tenant, int hundreds) {
    for (int i = 0; i < hundreds; i++) {
      replica.submit(of(tenant, 100));
    }
  }

  private MeshException refusal(GenerationSpec spec) {
    replica.submit(spec);
    return replica.told(spec.id().value()).refused().failure();
  }

  private void assertLetIn(GenerationSpec spec) {
    assertThat(replica.submit(spec).told(spec.id().value()).last).isEmpty();
  }

  @Test
  void what_comes_from_a_lost_replica_is_let_in_and_is_the_next_whoever_waits() {
    learn();
    backlog("a", 12);
    GenerationSpec late = Specs.until(of("b", 300), replica.time.epochMillis() - 1);
    GenerationSpec moved = Specs.moved(late, Specs.alone(late), 0);
    assertLetIn(moved);
    assertThat(replica.plan().orElseThrow().slices().getFirst().generation()).isEqualTo(moved.id());
    assertThat(refusal(of("b", 300)).code()).isEqualTo("overloaded");
  }

  @Test
  void what_comes_from_a_lost_replica_finds_room_in_a_full_queue_and_has_no_deadline() {
    learn();
    backlog("a", 100);
    GenerationSpec late = Specs.until(of("a", 100), replica.time.epochMillis() + 1);
    GenerationSpec moved = Specs.moved(late, Specs.alone(late), 0);
    assertLetIn(moved);
    replica.time.advance(Duration.ofMillis(2));
    replica.plan();
    assertThat(replica.told(moved.id().value()).last).isEmpty();
  }

  @Test
  void who_would_be_late_is_refused_at_once_and_told_when_there_is_room() {
    learn();
    backlog("a", 6);
    MeshException refusal = refusal(of("a", 300));
    assertThat(refusal.kind()).isEqualTo(FailureKind.OVERLOADED);
    assertThat(refusal.code()).isEqualTo("overloaded");
    // 600 ms are before it, 300 ms are its own and 100 ms those of a Step; 750 ms are allowed.
    assertThat(refusal.retryAfterMillis()).isBetween(200L, 350L);
    assertThat(refusal).hasMessage("The service is full. Try again in 1 seconds.");
  }

  /** Its own 300 ms count, too. */
  @ParameterizedTest
  @CsvSource({"650, false", "750, true"})
  void one_that_would_begin_too_late_is_refused_and_not_begun(long waited, boolean late) {
    learn();
    GenerationSpec spec = of("a", 300);
    assertLetIn(spec);
    replica.time.advance(Duration.ofMillis(waited));
    assertThat(step()).isEqualTo(!late);
    if (late) {
      assertThat(replica.told(spec.id().value()).refused().failure())
          .hasMessageStartingWith("The service is too busy to answer in time.");
    }
  }

  @Test
  void who_comes_back_when_it_was_told_is_let_in_before_others() {
    learn();
    backlog("a", 6);
    GenerationSpec early = of("a", 300);
    long wait = refusal(early).retryAfterMillis();
    long due = replica.time.epochMillis() + wait;
    while (replica.time.epochMillis() < due) {
      step();
    }
    refusal(of("a", 300));
    assertLetIn(Specs.of("again", "a", early.prompt(), 1));
  }

  @Test
  void several_that_are_refused_are_told_different_times() {
    learn();
    backlog("a", 8);
    long first = refusal(of("a", 200)).retryAfterMillis();
    long second = refusal(of("a", 200)).retryAfterMillis();
    long third = refusal(of("a", 200)).retryAfterMillis();
    assertThat(second - first).isBetween(150L, 350L);
    assertThat(third - second).isBetween(150L, 350L);
  }

  @Test
  void a_tenant_that_was_served_less_is_not_behind_anothers_backlog() {
    learn();
    backlog("a", 8);
    assertLetIn(of("b", 300));
  }

  @Test
  void an_urgent_one_is_not_behind_others() {
    learn();
    backlog("a", 8);
    assertLetIn(Specs.urgent(of("a", 300), Priority.HIGH));
  }

  @Test
  void what_is_in_the_cache_takes_no_time() {
    learn();
    GenerationSpec seen = of("a", 400);
    replica.submit(seen);
    while (step()) {}
    backlog("a", 6);
    assertLetIn(Specs.of("again", "a", seen.prompt(), 1));
    refusal(of("a", 400));
  }

  @Test
  void its_own_deadline_counts() {
    learn();
    backlog("a", 5);
    long now = replica.time.epochMillis();
    assertThat(refusal(Specs.until(of("a", 100), now + 300)).retryAfterMillis()).isPositive();
    assertLetIn(Specs.until(of("a", 100), now + 2_000));
  }

  @Test
  void a_prompt_that_takes_longer_than_the_limit_is_let_in_when_nothing_is_before_it() {
    learn();
    assertLetIn(of("a", 2_000));
    refusal(of("a", 2_000));
  }

  @Test
  void who_finds_nobody_is_let_in_however_slow_the_device_seemed() {
    for (int i = 0; i < 4; i++) {
      replica.submit(of("a", 4));
      replica
          .plan()
          .ifPresent(
              step -> {
                replica.time.advance(LIMIT.multipliedBy(10));
                replica.apply(step);
              });
    }
    assertThat(replica.plan()).isEmpty();
    assertLetIn(of("a", 4));
    assertThat(refusal(of("a", 4)).kind()).isEqualTo(FailureKind.OVERLOADED);
  }

  @Test
  void as_long_as_nothing_is_known_everything_is_let_in() {
    backlog("a", 20);
    assertThat(replica.scheduler.waiting()).isEqualTo(20);
  }
}
