package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Goal: guesses save Steps where the text repeats, and never change or delay anything. */
class SpeculationTest {
  /** As long as fifty tokens: one more costs little. */
  private static final long BOUND_BY_WEIGHTS = 50_000;

  private static GlassReplica replica(int stepTokens, int draftTokens, long stepNanos) {
    return new GlassReplica(
        new SchedulerLimits(
            16,
            stepTokens,
            64,
            100,
            100_000,
            Duration.ofSeconds(30),
            Duration.ofSeconds(10),
            true,
            GlassReplica.RETENTION,
            draftTokens,
            GlassReplica.SHARES),
        GlassDevice.of(256, 4, 64, stepNanos));
  }

  private static GenerationSpec echoing(String id, int outputMax) {
    int[] prompt = Specs.prompt(id.hashCode(), 30);
    prompt[0] = GlassDevice.ECHO;
    return Specs.of(id, "t", prompt, outputMax);
  }

  @Test
  void a_text_that_repeats_itself_takes_far_fewer_steps_and_is_the_same() {
    GenerationSpec spec = echoing("g", 300);
    GlassReplica with = replica(64, 8, BOUND_BY_WEIGHTS).submit(spec).run();
    GlassReplica without = replica(64, 0, BOUND_BY_WEIGHTS).submit(spec).run();
    with.assertRight(spec);
    without.assertRight(spec);
    assertThat(without.counts.draftTokens).isZero();
    assertThat(with.steps().size()).isLessThan(without.steps().size() * 2 / 3);
    assertThat(with.counts.acceptedTokens).isGreaterThan(with.counts.draftTokens / 2);
    assertThat(with.counts.generationTokens).isEqualTo(300);
  }

  @Test
  void a_text_that_does_not_is_hardly_guessed_at() {
    GenerationSpec spec = Specs.of("g", 30, 300);
    GlassReplica replica = replica(64, 8, BOUND_BY_WEIGHTS).submit(spec).run();
    assertThat(replica.counts.draftTokens).isLessThan(10);
  }

  @Test
  void where_each_token_costs_its_full_price_guessing_is_given_up() {
    GlassReplica replica = replica(64, 8, 0).submit(echoing("g", 900)).run();
    assertThat(replica.counts.draftTokens).isLessThan(60);
    replica.assertRight(echoing("g", 900));
  }

  @Test
  void a_text_whose_repetitions_never_go_on_alike_is_tried_ever_more_rarely() {
    Drafting drafting = new Drafting();
    int[] tokens = new int[4_000];
    int drafted = 0;
    for (int i = 0; i < tokens.length; i++) {
      // Pairs come again and again, and something new follows each time.
      tokens[i] = i % 3 == 2 ? 1_000 + i : i % 3;
      int[] draft = drafting.draft(tokens, i + 1, 8, chance -> chance > 0.3);
      drafting.note(draft.length, 0);
      drafted += i > 1_000 ? draft.length : 0;
    }
    assertThat(drafted).isBetween(1, 10);
  }

  @Test
  void guesses_take_only_what_is_left_of_a_step() {
    GlassReplica replica = replica(12, 8, BOUND_BY_WEIGHTS);
    replica.submit(echoing("a", 200)).submit(echoing("b", 200));
    for (int i = 0; i < 60; i++) {
      replica.step();
    }
    replica.submit(Specs.of("long", 80, 3));
    long before = replica.counts.draftTokens;
    for (int left = 80; left > 0; left -= 9) {
      RunStep step = replica.step().orElseThrow();
      // Nine of twelve are a chunk's most.
      int chunk = replica.slice("long").orElseThrow().tokens().length;
      assertThat(chunk).isEqualTo(Math.min(9, left));
      assertThat(step.tokens()).isLessThanOrEqualTo(12);
    }
    assertThat(replica.counts.draftTokens - before).isPositive().isLessThanOrEqualTo(20);
  }

  @Test
  void credit_and_length_bound_what_is_guessed() {
    GlassReplica replica = replica(64, 8, BOUND_BY_WEIGHTS);
    GenerationSpec spec = echoing("g", 203);
    replica.submit(spec, 0);
    for (int i = 0; i < 70 && replica.told("g").last.isEmpty(); i++) {
      // The replica checks that no more is told than the credit allows.
      replica.credit("g", 3);
      replica.run();
    }
    assertThat(replica.counts.acceptedTokens).isPositive();
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.LENGTH);
    replica.assertRight(spec);
  }

  @Test
  void a_generation_that_stops_among_right_guesses_ends_there() {
    GenerationSpec plain = echoing("g", 300);
    List<Integer> output = Specs.alone(plain);
    boolean cut = false;
    for (int end = 100; end < 140; end++) {
      GenerationSpec spec = Specs.stopping(plain, List.of(), output.get(end));
      GlassReplica replica = replica(64, 8, BOUND_BY_WEIGHTS).submit(spec).run();
      replica.assertRight(spec);
      Slice last = replica.slice("g").orElseThrow();
      cut |= replica.told("g").tokens.size() < last.end() - 30 + 1;
    }
    assertThat(cut).as("one of them ended before its last guess").isTrue();
  }

  @Test
  void penalties_see_the_guesses_before_each_position() {
    Sampling penalised =
        new Sampling(0.5f, 0, 1, 0, 1.2f, 0.5f, 0.5f, new int[0], new float[0], 3, 2);
    GenerationSpec spec = Specs.sampled(echoing("g", 200), penalised);
    GlassReplica replica = replica(64, 8, BOUND_BY_WEIGHTS).submit(spec).run();
    assertThat(replica.counts.acceptedTokens).isPositive();
    replica.assertRight(spec);
    assertThat(replica.steps().getLast().slices().getFirst().promptLength()).isEqualTo(30);
  }

  @Test
  void guesses_take_no_block_that_another_may_need() {
    // Room for both to the end, and none to spare.
    GlassReplica replica =
        new GlassReplica(GlassReplica.LIMITS, GlassDevice.of(30, 4, 64, BOUND_BY_WEIGHTS));
    replica.submit(echoing("a", 28)).submit(echoing("b", 28)).run();
    assertThat(replica.counts.preemptions).isZero();
    replica.assertRight(echoing("a", 28));
    replica.assertRight(echoing("b", 28));
  }
}
