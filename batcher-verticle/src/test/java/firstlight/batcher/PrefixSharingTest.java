package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.Priority;
import firstlight.protocol.RunStep;
import org.junit.jupiter.api.Test;

/** Goal: what several prompts begin with is computed once, also when they come together. */
class PrefixSharingTest {
  private static final int[] SYSTEM = Specs.prompt(1, 200);

  private static GlassReplica replica() {
    return new GlassReplica(GlassReplica.LIMITS, GlassDevice.of(400, 4, 64));
  }

  private static GenerationSpec spec(String id, int own) {
    return spec(id, "a", own);
  }

  /** The system prompt, and tokens of its own. */
  private static GenerationSpec spec(String id, String tenant, int own) {
    int[] prompt = java.util.Arrays.copyOf(SYSTEM, 200 + own);
    for (int i = 0; i < own; i++) {
      prompt[200 + i] = Math.floorMod(id.hashCode() + i, 100);
    }
    return Specs.of(id, tenant, prompt, 3);
  }

  private static int computed(GlassReplica replica) {
    return replica.steps().stream().mapToInt(RunStep::tokens).sum();
  }

  @Test
  void eight_equal_prompts_that_come_together_are_computed_about_once() {
    GlassReplica replica = replica();
    for (int i = 0; i < 8; i++) {
      replica.submit(spec("g" + i, 0));
    }
    replica.run();
    // 200 tokens; for each of the others its last Block, and what it was given to say.
    assertThat(computed(replica)).isBetween(200, 200 + 7 * 4 + 8 * 3);
    for (int i = 0; i < 8; i++) {
      replica.assertRight(spec("g" + i, 0));
    }
    assertThat(replica.told("g7").ended().usage().cached()).isEqualTo(196);
  }

  @Test
  void prompts_that_part_are_shared_up_to_there() {
    GlassReplica replica = replica();
    for (int i = 0; i < 8; i++) {
      replica.submit(spec("g" + i, 30));
    }
    replica.run();
    assertThat(computed(replica)).isBetween(200 + 8 * 30, 200 + 8 * (30 + 3));
    for (int i = 0; i < 8; i++) {
      replica.assertRight(spec("g" + i, 30));
    }
  }

  @Test
  void nobody_waits_for_what_he_does_not_share() {
    GlassReplica replica = replica();
    replica.submit(spec("long", 250)).submit(spec("short", 60));
    for (int i = 0; i < 7; i++) {
      replica.step();
      boolean parted = replica.slice("long").orElseThrow().start() >= 200;
      assertThat(replica.slice("short").isPresent()).isEqualTo(parted);
    }
    replica.run();
    replica.assertRight(spec("short", 60));
  }

  @Test
  void when_the_one_that_computes_ends_another_goes_on() {
    GlassReplica replica = replica();
    replica.submit(spec("first", 0)).submit(spec("second", 0)).submit(spec("third", 0));
    replica.step();
    replica.step();
    assertThat(replica.slice("second")).isEmpty();
    replica.cancel("first");
    assertThat(replica.step()).isPresent();
    replica.run();
    assertThat(computed(replica)).isLessThan(200 + 20);
    replica.assertRight(spec("second", 0));
    replica.assertRight(spec("third", 0));
  }

  @Test
  void one_that_may_not_run_is_not_waited_for() {
    GlassReplica replica = replica();
    replica.submit(spec("first", 0));
    replica.step();
    replica.scheduler.hold(spec("first", 0).id(), true);
    replica.submit(spec("second", 0)).run();
    replica.assertRight(spec("second", 0));
    replica.scheduler.hold(spec("first", 0).id(), false);
    replica.run();
    replica.assertRight(spec("first", 0));
    // The first goes on with what the second computed.
    assertThat(computed(replica)).isLessThan(200 + 16);
  }

  @Test
  void another_tenants_prompt_is_neither_waited_for_nor_used() {
    GlassReplica replica = replica();
    replica.submit(spec("first", "a", 0)).submit(spec("second", "b", 0)).run();
    assertThat(computed(replica)).isGreaterThanOrEqualTo(400);
    assertThat(replica.told("second").ended().usage().cached()).isZero();
  }

  @Test
  void an_urgent_one_does_not_wait_for_one_that_is_not() {
    GlassReplica replica = replica();
    replica.submit(Specs.urgent(spec("slow", 0), Priority.LOW));
    replica.step();
    replica.submit(Specs.urgent(spec("fast", 0), Priority.HIGH));
    replica.step();
    assertThat(replica.slice("fast")).isPresent();
    replica.run();
    replica.assertRight(spec("fast", 0));
    replica.assertRight(spec("slow", 0));
  }

  @Test
  void without_the_cache_everyone_computes_for_himself() {
    SchedulerLimits all = GlassReplica.LIMITS;
    SchedulerLimits limits =
        new SchedulerLimits(
            all.runningMax(),
            all.stepTokensMax(),
            all.promptChunkMax(),
            all.waitingMax(),
            all.waitingTokensMax(),
            all.firstTokenMax(),
            all.stallMax(),
            false,
            all.retention(),
            all.draftTokensMax(),
            all.shares());
    GlassReplica replica = new GlassReplica(limits, GlassDevice.of(400, 4, 64));
    replica.submit(spec("first", 0)).submit(spec("second", 0)).run();
    assertThat(computed(replica)).isGreaterThanOrEqualTo(400);
  }
}
