package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.Slice;
import firstlight.protocol.StepResult;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulerTest {
  private static SchedulerLimits limits(int running, int step, int chunk) {
    return new SchedulerLimits(
        running,
        step,
        chunk,
        4,
        100,
        Duration.ofSeconds(30),
        Duration.ofSeconds(10),
        true,
        GlassReplica.RETENTION,
        8,
        GlassReplica.SHARES);
  }

  @Test
  void a_generation_alone_gives_its_tokens_and_ends_with_the_length_asked_for() {
    GenerationSpec spec = Specs.of("g", 10, 5);
    GlassReplica replica = GlassReplica.roomy().submit(spec).run();
    replica.assertRight(spec);
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.LENGTH);
    assertThat(replica.scheduler.idle()).isTrue();
  }

  @Test
  void a_long_prompt_is_cut_into_chunks_and_leaves_room_for_those_who_decode() {
    GlassReplica replica =
        new GlassReplica(limits(8, 10, 6), GlassDevice.of(64, 4, 64)).submit(Specs.of("s", 3, 9));
    replica.step();
    replica.submit(Specs.of("long", 20, 2)).submit(Specs.of("late", 2, 2));
    RunStep step = replica.step().orElseThrow();
    // One token for the first, at most six of the long prompt, and the short one goes beside it.
    assertThat(step.slices()).extracting(slice -> slice.tokens().length).containsExactly(1, 6, 2);
    assertThat(step.slices()).extracting(Slice::sampled).containsExactly(1, 0, 1);
    assertThat(step.tokens()).isLessThanOrEqualTo(10);
    replica.run();
    replica.assertRight(Specs.of("long", 20, 2));
    replica.assertRight(Specs.of("late", 2, 2));
  }

  @Test
  void the_beginning_of_a_prompt_seen_before_is_not_computed_again() {
    GlassReplica replica = GlassReplica.roomy();
    int[] prompt = Specs.prompt(1, 12);
    replica.submit(Specs.of("first", "a", prompt, 3)).run();
    replica.submit(Specs.of("again", "a", prompt, 3)).run();
    assertThat(replica.told("first").ended().usage().cached()).isZero();
    // All three Blocks are known, but the last token is always computed.
    assertThat(replica.told("again").ended().usage().cached()).isEqualTo(8);
    assertThat(replica.told("again").emissions.getFirst().cached()).isEqualTo(8);
    assertThat(replica.told("again").ids()).isEqualTo(replica.told("first").ids());
    assertThat(replica.counts.prefixQueries).isEqualTo(24);
    assertThat(replica.counts.prefixHits).isEqualTo(8);
  }

  @Test
  void another_tenant_finds_nothing() {
    GlassReplica replica = GlassReplica.roomy();
    int[] prompt = Specs.prompt(1, 12);
    replica.submit(Specs.of("first", "a", prompt, 3)).run();
    replica.submit(Specs.of("other", "b", prompt, 3)).run();
    assertThat(replica.told("other").ended().usage().cached()).isZero();
    assertThat(replica.told("other").ids()).isEqualTo(replica.told("first").ids());
  }

  @Test
  void equal_prompts_at_the_same_time_end_up_in_the_same_blocks() {
    GlassReplica replica = GlassReplica.roomy();
    int[] prompt = Specs.prompt(1, 16);
    replica.submit(Specs.of("one", "a", prompt, 3)).submit(Specs.of("two", "a", prompt, 3));
    replica.step();
    assertThat(replica.scheduler.blocksFree()).isEqualTo(256 - 4);
  }

  @Test
  void the_latest_gives_its_blocks_back_when_they_run_out_and_nothing_is_emitted_twice() {
    // 6 Blocks of 4: each needs up to 4.
    GlassReplica replica = new GlassReplica(limits(8, 64, 64), GlassDevice.of(6, 4, 64));
    GenerationSpec early = Specs.of("early", 4, 12);
    GenerationSpec late = Specs.of("late", 4, 12);
    replica.submit(early).submit(late).run();
    assertThat(replica.counts.preemptions).isPositive();
    replica.assertRight(early);
    replica.assertRight(late);
    int earlyEnd = lastStepOf(replica, "early");
    assertThat(lastStepOf(replica, "late")).isGreaterThan(earlyEnd);
  }

  private static int lastStepOf(GlassReplica replica, String id) {
    int last = -1;
    for (int i = 0; i < replica.steps().size(); i++) {
      if (replica.steps().get(i).slices().stream()
          .anyMatch(slice -> slice.generation().value().equals(id))) {
        last = i;
      }
    }
    return last;
  }

  @Test
  void known_tokens_are_not_emitted_and_the_rest_is_the_same() {
    GenerationSpec whole = Specs.of("whole", 7, 9);
    List<Integer> all = Specs.alone(whole);
    GenerationSpec rest = Specs.known(whole, all.get(0), all.get(1), all.get(2));
    GlassReplica replica = GlassReplica.roomy().submit(rest).run();
    assertThat(replica.told("whole").ids()).isEqualTo(all.subList(3, 9));
    assertThat(replica.told("whole").emissions.getFirst().position()).isEqualTo(3);
    replica.assertRight(rest);
  }

  @Test
  void known_tokens_that_already_end_it_are_answered_without_a_step() {
    GenerationSpec whole = Specs.of("g", 7, 9);
    List<Integer> all = Specs.alone(whole);
    GenerationSpec ended =
        Specs.known(
            Specs.stopping(whole, List.of(Specs.bytes(all.get(1)))), all.get(0), all.get(1));
    GlassReplica replica = GlassReplica.roomy().submit(ended);
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.STOP);
    assertThat(replica.step()).isEmpty();
  }

  @Test
  void of_one_whose_tokens_are_all_known_it_says_how_it_ended() {
    GenerationSpec whole = Specs.of("g", 7, 9);
    GenerationSpec all = Specs.moved(whole, Specs.alone(whole), 9);
    GlassReplica replica = GlassReplica.roomy().submit(all);
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.LENGTH);
    assertThat(replica.told("g").ended().usage().output()).isEqualTo(9);
    assertThat(replica.step()).isEmpty();
  }

  @Test
  void a_prompt_that_leaves_no_room_is_refused_with_both_numbers() {
    GlassReplica replica = new GlassReplica(limits(8, 64, 64), GlassDevice.of(4, 4, 64));
    replica.submit(Specs.of("full", 16, 1)).submit(Specs.of("fits", 15, 100)).run();
    MeshException refusal = replica.told("full").refused().failure();
    assertThat(refusal.kind()).isEqualTo(FailureKind.INVALID_REQUEST);
    assertThat(refusal.code()).isEqualTo("context_length_exceeded");
    assertThat(refusal.getMessage()).contains("at most 16 tokens").contains("the prompt has 16");
    assertThat(replica.told("fits").ids()).hasSize(1);
    assertThat(replica.told("fits").ended().reason()).isEqualTo(FinishReason.LENGTH);
  }

  @Test
  void a_prompt_longer_than_the_context_is_refused_with_both_numbers() {
    GlassReplica replica =
        new GlassReplica(GlassReplica.LIMITS, GlassDevice.of(2_000, 4, 64))
            .submit(Specs.of("long", 4096, 1));
    assertThat(replica.told("long").refused().failure().getMessage())
        .contains("maximum context length is 4096 tokens")
        .contains("the prompt has 4096");
  }

  @Test
  void a_full_queue_refuses_with_a_time_to_try_again() {
    GlassReplica replica = new GlassReplica(limits(1, 64, 64), GlassDevice.of(64, 4, 64));
    for (int i = 0; i < 4; i++) {
      replica.submit(Specs.of("w" + i, 2, 2));
    }
    replica.submit(Specs.of("fifth", 2, 2));
    MeshException refusal = replica.told("fifth").refused().failure();
    assertThat(refusal.kind()).isEqualTo(FailureKind.OVERLOADED);
    assertThat(refusal.retryAfterMillis()).isGreaterThanOrEqualTo(1_000);
    replica.run();
    replica.submit(Specs.of("later", 2, 2)).run();
    assertThat(replica.told("later").ids()).hasSize(2);
  }

  @Test
  void a_queue_full_of_tokens_refuses_too() {
    GlassReplica replica = new GlassReplica(limits(1, 64, 64), GlassDevice.of(64, 4, 64));
    replica.submit(Specs.of("a", 90, 2)).submit(Specs.of("b", 20, 2));
    assertThat(replica.told("b").refused().failure().kind()).isEqualTo(FailureKind.OVERLOADED);
  }

  @Test
  void one_that_waits_past_its_deadline_is_refused_and_never_run() {
    GlassReplica replica = new GlassReplica(limits(1, 64, 64), GlassDevice.of(64, 4, 64));
    GenerationSpec patient = Specs.of("patient", 4, 20);
    GenerationSpec hasty = Specs.until(Specs.of("hasty", 4, 4), replica.time.epochMillis() + 500);
    replica.submit(patient).submit(hasty);
    replica.step();
    replica.time.advance(Duration.ofMillis(499));
    replica.step();
    assertThat(replica.told("hasty").last).isEmpty();
    replica.time.advance(Duration.ofMillis(1));
    replica.run();
    assertThat(replica.told("hasty").refused().failure().kind()).isEqualTo(FailureKind.OVERLOADED);
    assertThat(lastStepOf(replica, "hasty")).isEqualTo(-1);
    replica.assertRight(patient);
  }

  @Test
  void without_a_deadline_of_its_own_the_replicas_limit_holds() {
    GlassReplica replica = new GlassReplica(limits(1, 64, 64), GlassDevice.of(64, 4, 64));
    replica.submit(Specs.of("runs", 4, 20)).submit(Specs.of("waits", 4, 4));
    replica.step();
    replica.time.advance(Duration.ofSeconds(30));
    replica.step();
    assertThat(replica.told("waits").refused().failure().code()).isEqualTo("overloaded");
    assertThat(replica.told("runs").last).isEmpty();
  }

  @Test
  void cancelling_ends_it_in_every_state_and_gives_everything_back() {
    GlassReplica replica = new GlassReplica(limits(2, 4, 4), GlassDevice.of(64, 4, 64));
    replica.submit(Specs.of("decodes", 2, 50)).submit(Specs.of("prefills", 30, 50));
    replica.submit(Specs.of("waits", 4, 4));
    replica.step();
    replica.step();
    List.of("waits", "prefills", "decodes").forEach(replica::cancel);
    for (String id : List.of("waits", "prefills", "decodes")) {
      assertThat(replica.told(id).ended().reason()).isEqualTo(FinishReason.CANCELLED);
    }
    assertThat(replica.step()).isEmpty();
    assertThat(replica.scheduler.kvUsage()).isZero();
    assertThat(replica.scheduler.idle()).isTrue();
  }

  @Test
  void one_cancelled_while_the_device_works_on_it_keeps_its_blocks_until_the_step_is_done() {
    GlassReplica replica = GlassReplica.roomy().submit(Specs.of("g", 8, 50));
    RunStep step = replica.plan().orElseThrow();
    replica.cancel("g");
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.CANCELLED);
    assertThat(replica.scheduler.kvUsage()).isPositive();
    replica.apply(step);
    assertThat(replica.told("g").tokens).isEmpty();
    assertThat(replica.scheduler.kvUsage()).isZero();
  }

  @Test
  void without_credit_it_pauses_and_goes_on_with_new_credit() {
    GenerationSpec spec = Specs.of("g", 4, 6);
    GlassReplica replica = GlassReplica.roomy().submit(spec, 2).run();
    assertThat(replica.told("g").ids()).hasSize(2);
    replica.credit("g", 3);
    replica.run();
    assertThat(replica.told("g").ids()).hasSize(5);
    replica.credit("g", Integer.MAX_VALUE);
    replica.run();
    replica.assertRight(spec);
  }

  @Test
  void one_without_credit_for_too_long_is_ended() {
    GlassReplica replica = GlassReplica.roomy().submit(Specs.of("g", 4, 6), 2).run();
    replica.time.advance(Duration.ofSeconds(10));
    replica.step();
    assertThat(replica.told("g").last).isEmpty();
    replica.time.advance(Duration.ofMillis(1));
    replica.step();
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.CANCELLED);
    assertThat(replica.scheduler.kvUsage()).isZero();
  }

  @Test
  void a_paused_one_keeps_its_blocks_until_somebody_needs_them() {
    GlassReplica replica = new GlassReplica(limits(8, 64, 64), GlassDevice.of(6, 4, 64));
    GenerationSpec paused = Specs.of("paused", 12, 4);
    replica.submit(paused, 1).run();
    replica.submit(Specs.of("small", 3, 2)).run();
    assertThat(replica.counts.preemptions).isZero();
    replica.submit(Specs.of("large", 18, 4)).run();
    assertThat(replica.counts.preemptions).isEqualTo(1);
    replica.assertRight(Specs.of("large", 18, 4));
    replica.credit("paused", 100);
    replica.run();
    replica.assertRight(paused);
  }

  @Test
  void a_paused_one_gives_its_blocks_to_one_that_decodes_though_it_came_first() {
    GlassReplica replica = new GlassReplica(limits(8, 64, 64), GlassDevice.of(6, 4, 64));
    replica.submit(Specs.of("paused", 12, 4), 1).run();
    GenerationSpec decodes = Specs.of("decodes", 8, 12);
    replica.submit(decodes).run();
    replica.assertRight(decodes);
    assertThat(replica.counts.preemptions).isEqualTo(1);
  }

  @Test
  void those_without_credit_do_not_keep_others_waiting() {
    GlassReplica replica = new GlassReplica(limits(1, 64, 64), GlassDevice.of(64, 4, 64));
    replica.submit(Specs.of("paused", 4, 4), 0).submit(Specs.of("goes", 4, 4)).run();
    replica.assertRight(Specs.of("goes", 4, 4));
  }

  @Test
  void penalties_see_all_tokens_before_those_of_the_slice() {
    GenerationSpec spec =
        Specs.sampled(
            Specs.of("g", 6, 3),
            new firstlight.protocol.Sampling(0, 0, 1, 0, 1, 1, 0, new int[0], new float[0], 0, -1));
    GlassReplica replica = new GlassReplica(limits(8, 4, 4), GlassDevice.of(64, 4, 64));
    replica.submit(spec);
    replica.step();
    assertThat(replica.slice("g").orElseThrow().history()).isEmpty();
    replica.step();
    assertThat(replica.slice("g").orElseThrow().history())
        .isEqualTo(java.util.Arrays.copyOf(spec.prompt(), 3));
    replica.step();
    assertThat(replica.slice("g").orElseThrow().history()).isEqualTo(spec.prompt());
  }

  @Test
  void when_the_device_is_gone_everything_fails_once() {
    GlassReplica replica = new GlassReplica(limits(1, 64, 64), GlassDevice.of(64, 4, 64));
    replica.submit(Specs.of("runs", 4, 9)).submit(Specs.of("waits", 4, 9));
    replica.plan();
    replica.fail(new MeshException(FailureKind.DEVICE_LOST, "device_lost", "gone"));
    assertThat(replica.told("runs").refused().failure().code()).isEqualTo("device_lost");
    assertThat(replica.told("waits").refused().failure().code()).isEqualTo("device_lost");
    assertThat(replica.scheduler.outstandingTokens()).isZero();
  }

  @Test
  void an_id_that_is_running_is_refused() {
    GlassReplica replica = GlassReplica.roomy().submit(Specs.of("g", 4, 9));
    List<Outcome> second = replica.scheduler.submit(Specs.of("g", 3, 1), 5);
    assertThat(second).hasOnlyElementsOfType(Outcome.Refused.class);
    replica.run();
    replica.assertRight(Specs.of("g", 4, 9));
  }

  @Test
  void an_answer_that_does_not_fit_the_step_is_not_taken() {
    GlassReplica replica = GlassReplica.roomy().submit(Specs.of("g", 4, 9));
    replica.plan();
    StepResult wrong = new StepResult(77, List.of(), 1);
    assertThatThrownBy(() -> replica.scheduler.apply(wrong)).hasMessageContaining("does not fit");
    assertThatThrownBy(replica.scheduler::plan).hasMessage("a Step is in flight");
  }

  @Test
  void outstanding_tokens_are_prompts_and_reserved_outputs_still_to_come() {
    GlassReplica replica = GlassReplica.roomy().submit(Specs.of("g", 10, 5));
    assertThat(replica.scheduler.outstandingTokens()).isEqualTo(15);
    replica.step();
    // One token is there, and has to go through the device itself.
    assertThat(replica.scheduler.outstandingTokens()).isEqualTo(1 + 4);
    replica.run();
    assertThat(replica.scheduler.outstandingTokens()).isZero();
  }
}
