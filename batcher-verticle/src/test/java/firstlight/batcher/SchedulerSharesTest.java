package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.Priority;
import firstlight.protocol.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How Sequences share a replica: priorities, tenants, long prompts, memory set aside. */
class SchedulerSharesTest {
  private static SchedulerLimits limits(int running, int step, int chunk, SharePolicy shares) {
    return limits(running, step, chunk, true, shares);
  }

  private static SchedulerLimits limits(
      int running, int step, int chunk, boolean prefixCache, SharePolicy shares) {
    return new SchedulerLimits(
        running,
        step,
        chunk,
        200,
        100_000,
        Duration.ofSeconds(300),
        Duration.ofSeconds(300),
        prefixCache,
        GlassReplica.RETENTION,
        0,
        shares);
  }

  private static SharePolicy longFrom(int tokens) {
    return new SharePolicy(Duration.ofMillis(100), tokens, 0.5, 1, 0, 16);
  }

  private static GenerationSpec of(String id, String tenant, int prompt, int output) {
    return Specs.of(id, tenant, Specs.prompt(id.hashCode(), prompt), output);
  }

  /** Prompt tokens of the generations whose names begin like this, in the last Step. */
  private static int prefilled(GlassReplica replica, String prefix) {
    return replica.steps().getLast().slices().stream()
        .filter(slice -> slice.generation().value().startsWith(prefix))
        .mapToInt(slice -> slice.tokens().length)
        .sum();
  }

  @Test
  void the_urgent_one_overtakes_those_that_came_before() {
    GlassReplica replica =
        new GlassReplica(limits(1, 64, 64, longFrom(1000)), GlassDevice.of(64, 4, 64));
    for (int i = 0; i < 3; i++) {
      replica.submit(Specs.of("normal" + i, 4, 2));
    }
    replica.submit(Specs.urgent(Specs.of("low", 4, 2), Priority.LOW));
    replica.submit(Specs.urgent(Specs.of("high", 4, 2), Priority.HIGH));
    replica.run();
    assertThat(replica.order()).containsExactly("high", "normal0", "normal1", "normal2", "low");
  }

  @Test
  void the_least_urgent_gets_on_beside_a_flood_of_others() {
    GlassReplica replica =
        new GlassReplica(limits(4, 32, 32, longFrom(1000)), GlassDevice.of(256, 4, 64));
    replica.submit(Specs.urgent(Specs.of("low", 32, 1), Priority.LOW));
    int flood = 0;
    while (replica.told("low").last.isEmpty()) {
      replica.submit(Specs.urgent(Specs.of("high" + flood++, 32, 1), Priority.HIGH));
      replica.submit(Specs.urgent(Specs.of("high" + flood++, 32, 1), Priority.HIGH));
      replica.step();
      assertThat(flood).isLessThan(100);
    }
    assertThat(flood).isGreaterThan(20);
  }

  @Test
  void the_least_urgent_loses_its_blocks_first_though_it_came_first() {
    GlassReplica replica =
        new GlassReplica(limits(8, 64, 64, longFrom(1000)), GlassDevice.of(6, 4, 64));
    GenerationSpec low = Specs.urgent(Specs.of("low", 4, 12), Priority.LOW);
    GenerationSpec normal = Specs.of("normal", 4, 12);
    replica.submit(low).submit(normal).run();
    assertThat(replica.counts.preemptions).isPositive();
    assertThat(replica.order()).containsExactly("normal", "low");
    replica.assertRight(low);
    replica.assertRight(normal);
  }

  @Test
  void a_tenant_that_comes_late_does_not_wait_for_all_of_anothers_requests() {
    GlassReplica replica =
        new GlassReplica(limits(2, 32, 32, longFrom(1000)), GlassDevice.of(256, 4, 64));
    for (int i = 0; i < 20; i++) {
      replica.submit(of("a" + i, "a", 32, 4));
    }
    replica.step();
    replica.submit(of("b", "b", 32, 4)).run();
    assertThat(replica.order().indexOf("b")).isLessThanOrEqualTo(3);
  }

  @Test
  void two_that_flood_get_equal_tokens_though_one_has_short_prompts_and_long_answers() {
    GlassReplica replica =
        new GlassReplica(limits(6, 64, 64, longFrom(1000)), GlassDevice.of(512, 4, 64));
    for (int i = 0; i < 1_500; i++) {
      for (int j = 0; replica.scheduler.waiting() < 150; j++) {
        replica.submit(of("talks%d-%d".formatted(i, j), "talks", 4, 30));
        replica.submit(of("reads%d-%d".formatted(i, j), "reads", 60, 2));
      }
      replica.step();
    }
    // The second asks for more at once, and is a burst behind for that, but no more.
    long talks = replica.scheduler.served(new TenantId("talks"));
    long reads = replica.scheduler.served(new TenantId("reads"));
    assertThat(reads).isGreaterThan(2 * TenantShares.BURST);
    assertThat(talks - reads).isBetween(-500L, TenantShares.BURST + 500L);
  }

  @Test
  void tokens_found_in_the_cache_cost_a_tenant_nothing() {
    GlassReplica replica = GlassReplica.roomy();
    replica.submit(Specs.of("first", "a", Specs.prompt(1, 40), 1)).run();
    long before = replica.scheduler.served(new TenantId("a"));
    replica.submit(Specs.of("again", "a", Specs.prompt(1, 40), 1)).run();
    assertThat(before).isEqualTo(40 + 2);
    assertThat(replica.scheduler.served(new TenantId("a")) - before).isEqualTo(4 + 2);
  }

  @Test
  void what_is_computed_twice_costs_a_tenant_once() {
    GlassReplica replica =
        new GlassReplica(limits(8, 64, 64, false, longFrom(1000)), GlassDevice.of(6, 4, 64));
    replica.submit(Specs.of("one", 4, 12)).submit(Specs.of("two", 4, 12)).run();
    assertThat(replica.counts.preemptions).isPositive();
    assertThat(replica.scheduler.served(new TenantId("t"))).isEqualTo(2 * (4 + 2 * 12));
  }

  @Test
  void short_prompts_overtake_a_long_one_which_gets_its_share_of_each_step() {
    GlassReplica replica =
        new GlassReplica(limits(32, 32, 32, longFrom(100)), GlassDevice.of(512, 4, 64));
    replica.submit(Specs.of("long", 300, 1));
    replica.step();
    // Alone it takes what a prompt may take of a Step.
    assertThat(prefilled(replica, "long")).isEqualTo(24);
    IntStream.range(0, 4).forEach(i -> replica.submit(Specs.of("short" + i, 20, 1)));
    for (int i = 0; i < 5; i++) {
      replica.step();
      assertThat(prefilled(replica, "long")).isEqualTo(16);
    }
    replica.run();
    assertThat(replica.order().getLast()).isEqualTo("long");
    replica.assertRight(Specs.of("long", 300, 1));
  }

  @Test
  void long_prompts_together_hold_no_more_than_their_share_of_the_memory() {
    // 128 Blocks, of which each takes 50.
    GlassReplica replica =
        new GlassReplica(limits(32, 32, 32, longFrom(100)), GlassDevice.of(128, 4, 64));
    List<String> names = List.of("long0", "long1", "long2");
    names.forEach(name -> replica.submit(Specs.of(name, 200, 1)));
    for (int i = 0; i < 3; i++) {
      replica.step();
      assertThat(replica.scheduler.running()).isEqualTo(1);
    }
    replica.submit(Specs.of("short", 40, 1)).step();
    assertThat(replica.scheduler.running()).isEqualTo(2);
    replica.run();
    assertThat(replica.order().getFirst()).isEqualTo("short");
    names.forEach(name -> replica.assertRight(Specs.of(name, 200, 1)));
  }

  @Test
  void a_long_prompt_begins_though_short_ones_never_stop_coming() {
    GlassReplica replica =
        new GlassReplica(limits(6, 32, 32, longFrom(100)), GlassDevice.of(64, 4, 64));
    int shorts = 0;
    for (int i = 0; i < 6; i++) {
      replica.submit(Specs.of("s" + shorts++, 20, 20));
    }
    replica.step();
    replica.submit(Specs.of("long", 200, 2));
    while (replica.told("long").last.isEmpty()) {
      replica.submit(Specs.of("s" + shorts++, 20, 20));
      replica.step();
      assertThat(shorts).isLessThan(150);
    }
    replica.assertRight(Specs.of("long", 200, 2));
  }

  @Test
  void with_room_reserved_for_the_answers_nobody_is_preempted() {
    SharePolicy reserving = new SharePolicy(Duration.ofMillis(100), 1024, 0.5, 1, 1, 16);
    GlassReplica replica =
        new GlassReplica(limits(16, 64, 64, reserving), GlassDevice.of(40, 4, 64));
    for (int i = 0; i < 30; i++) {
      replica.submit(Specs.of("g" + i, 8, 24));
    }
    replica.run();
    assertThat(replica.counts.preemptions).isZero();
    for (int i = 0; i < 30; i++) {
      replica.assertRight(Specs.of("g" + i, 8, 24));
    }
  }

  @Test
  void a_tenants_part_of_the_queue_is_bounded_and_another_still_gets_in() {
    SharePolicy half = new SharePolicy(Duration.ofMillis(100), 1024, 0.5, 0.5, 0, 16);
    GlassReplica replica = new GlassReplica(limits(1, 64, 64, half), GlassDevice.of(64, 4, 64));
    for (int i = 0; i < 101; i++) {
      replica.submit(of("a" + i, "a", 4, 4));
    }
    assertThat(replica.told("a99").last).isEmpty();
    assertThat(replica.told("a100").refused().failure().kind()).isEqualTo(FailureKind.TENANT_LIMIT);
    assertThat(replica.told("a100").refused().failure().code()).isEqualTo("tenant_queue_full");
    replica.submit(of("a101", "a", 4, 4));
    assertThat(replica.told("a101").refused().failure().retryAfterMillis())
        .isGreaterThan(replica.told("a100").refused().failure().retryAfterMillis());
    replica.submit(of("b", "b", 4, 4)).run();
    replica.assertRight(of("b", "b", 4, 4));
  }
}
