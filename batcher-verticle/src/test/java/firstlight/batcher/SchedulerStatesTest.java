package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.RunStep;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** In every state: what nobody wants any more, or what is too late, is in no Step from then on. */
class SchedulerStatesTest {
  private static final Duration LONG = Duration.ofSeconds(300);

  /** How a Sequence gets where it is. */
  private enum Where {
    WAITING,
    PREFILLING,
    WITHOUT_CREDIT,
    HELD,
    PREEMPTED_IN_ITS_PROMPT,
    DECODING,
    PREEMPTED_AFTER_TOKENS;

    boolean hasTokens() {
      return this == DECODING || this == PREEMPTED_AFTER_TOKENS;
    }
  }

  private final GlassReplica replica =
      new GlassReplica(
          new SchedulerLimits(
              2, 8, 6, 10, 1_000, LONG, LONG, true, GlassReplica.RETENTION, 0, GlassReplica.SHARES),
          GlassDevice.of(6, 4, 64));

  private GenerationSpec spec(int prompt) {
    long deadline = replica.time.epochMillis() + 1_000;
    return Specs.until(Specs.of("it", prompt, 8), deadline);
  }

  private void bring(Where where) {
    switch (where) {
      case WAITING -> {
        replica.submit(Specs.of("a", 2, 8), 1).submit(Specs.of("b", 2, 8));
        replica.step();
        replica.submit(spec(14));
      }
      case PREFILLING -> replica.submit(spec(14)).step();
      case WITHOUT_CREDIT -> replica.submit(spec(14), 0).step();
      case HELD -> {
        replica.submit(spec(14)).step();
        replica.scheduler.hold(new GenerationId("it"), true);
        replica.step();
      }
      case PREEMPTED_IN_ITS_PROMPT -> {
        replica.submit(Specs.of("first", 4, 18)).submit(spec(14)).step();
        replica.scheduler.hold(new GenerationId("it"), true);
        preempt();
      }
      case DECODING -> {
        replica.submit(spec(4), 2).step();
        replica.step();
      }
      case PREEMPTED_AFTER_TOKENS -> {
        replica.submit(Specs.of("first", 4, 18)).submit(spec(9), 1).step();
        preempt();
      }
    }
  }

  private void preempt() {
    while (replica.counts.preemptions == 0) {
      assertThat(replica.step()).isPresent();
    }
    replica.scheduler.hold(new GenerationId("it"), false);
    replica.credit("it", 1);
  }

  private void assertInNoStepFromNowOn() {
    for (Optional<RunStep> step = replica.step(); step.isPresent(); step = replica.step()) {
      assertThat(step.get().slices()).noneMatch(slice -> slice.generation().value().equals("it"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void one_that_is_cancelled_is_in_no_step_any_more(Where where) {
    bring(where);
    assertThat(replica.told("it").last).isEmpty();
    replica.cancel("it");
    assertThat(replica.told("it").ended().reason()).isEqualTo(FinishReason.CANCELLED);
    assertInNoStepFromNowOn();
  }

  @ParameterizedTest
  @EnumSource
  void one_without_a_token_by_its_deadline_is_in_no_step_any_more(Where where) {
    bring(where);
    assertThat(replica.told("it").tokens.isEmpty()).isEqualTo(!where.hasTokens());
    replica.time.advance(Duration.ofSeconds(1));
    if (where.hasTokens()) {
      replica.step();
      assertThat(replica.told("it").last).isEmpty();
    } else {
      assertInNoStepFromNowOn();
      assertThat(replica.told("it").refused().failure().kind()).isEqualTo(FailureKind.OVERLOADED);
    }
  }
}
