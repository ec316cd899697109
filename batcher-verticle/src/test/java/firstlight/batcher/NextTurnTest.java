package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Goal: the next turn of a Session finds what the last one computed, whatever came between. */
class NextTurnTest {
  private static GenerationSpec turn(String id, String tenant, int[] prompt) {
    return Specs.continued(Specs.of(id, tenant, prompt, 9));
  }

  /** 40 Blocks of 4, half of which one tenant may have kept. */
  private static GlassReplica replica() {
    return new GlassReplica(GlassReplica.LIMITS, GlassDevice.of(40, 4, 64));
  }

  /** Prompt and answer of a turn, and a new question. */
  private static int[] next(GenerationSpec turn) {
    List<Integer> answer = Specs.alone(turn);
    return IntStream.concat(
            IntStream.of(turn.prompt()),
            IntStream.concat(answer.stream().mapToInt(Integer::intValue), IntStream.range(0, 5)))
        .toArray();
  }

  /** Requests that nothing follows, which need all Blocks one after the other. */
  private static void flood(GlassReplica replica, String tenant) {
    for (int i = 0; i < 8; i++) {
      replica.submit(Specs.of("flood" + i + tenant, tenant, Specs.prompt(50 + i, 30), 4)).run();
    }
  }

  private static int cached(GlassReplica replica, String id) {
    return replica.told(id).ended().usage().cached();
  }

  @Test
  void a_turn_and_its_answer_are_found_after_a_flood_of_other_requests() {
    GlassReplica replica = replica();
    GenerationSpec first = turn("first", "a", Specs.prompt(1, 20));
    GenerationSpec once = Specs.of("once", "a", Specs.prompt(2, 20), 9);
    replica.submit(first).run();
    replica.submit(once).run();
    flood(replica, "b");
    replica.submit(turn("second", "a", next(first))).submit(turn("other", "a", next(once))).run();
    // 20 and 8 of 9: the last token of an answer has no keys and values.
    assertThat(cached(replica, "second")).isEqualTo(28);
    assertThat(cached(replica, "other")).isZero();
    replica.assertRight(turn("second", "a", next(first)));
  }

  @Test
  void it_is_kept_for_a_time_only() {
    GlassReplica replica = replica();
    GenerationSpec first = turn("first", "a", Specs.prompt(1, 20));
    replica.submit(first).run();
    replica.time.advance(Duration.ofSeconds(60));
    flood(replica, "b");
    replica.submit(turn("second", "a", next(first))).run();
    assertThat(cached(replica, "second")).isZero();
  }

  @Test
  void a_tenant_with_many_sessions_does_not_take_anothers() {
    GlassReplica replica = replica();
    GenerationSpec quiet = turn("quiet", "a", Specs.prompt(1, 20));
    replica.submit(quiet).run();
    for (int i = 0; i < 12; i++) {
      replica.submit(turn("busy" + i, "b", Specs.prompt(10 + i, 20))).run();
    }
    replica.submit(turn("again", "a", next(quiet))).run();
    assertThat(cached(replica, "again")).isEqualTo(28);
    replica.submit(turn("latest", "b", next(turn("busy11", "b", Specs.prompt(21, 20))))).run();
    assertThat(cached(replica, "latest")).isEqualTo(28);
    replica.submit(turn("oldest", "b", next(turn("busy0", "b", Specs.prompt(10, 20))))).run();
    assertThat(cached(replica, "oldest")).isZero();
  }

  @Test
  void what_is_kept_never_keeps_others_from_running() {
    GlassReplica replica = replica();
    replica.submit(turn("first", "a", Specs.prompt(1, 60))).run();
    GenerationSpec large = Specs.of("large", "b", Specs.prompt(2, 150), 9);
    replica.submit(large).run();
    replica.assertRight(large);
  }

  @Test
  void a_turn_that_was_cancelled_is_not_kept() {
    GlassReplica replica = replica();
    GenerationSpec first = turn("first", "a", Specs.prompt(1, 20));
    replica.submit(first);
    replica.step();
    replica.cancel("first");
    flood(replica, "b");
    replica.submit(turn("second", "a", next(first))).run();
    assertThat(cached(replica, "second")).isZero();
  }
}
