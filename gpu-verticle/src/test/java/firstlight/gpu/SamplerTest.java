package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SamplerTest {
  private static final int[] NOTHING = {};
  private static final Sampler.Before NONE = new Sampler.Before(NOTHING, 0);
  private static final int VOCABULARY = 1003;
  private static final int AT = 5;

  private final Random random = new Random(Long.getLong("seed", 1));
  private final Sampler sampler = new Sampler(VOCABULARY);

  /** Options with a short way to change each. */
  private record Options(
      float temperature,
      int topK,
      float topP,
      float minP,
      float repetition,
      float presence,
      float frequency) {
    static final Options PLAIN = new Options(1, 0, 1, 0, 1, 0, 0);

    Options temperature(float value) {
      return new Options(value, topK, topP, minP, repetition, presence, frequency);
    }

    Options topK(int value) {
      return new Options(temperature, value, topP, minP, repetition, presence, frequency);
    }

    Options topP(float value) {
      return new Options(temperature, topK, value, minP, repetition, presence, frequency);
    }

    Options minP(float value) {
      return new Options(temperature, topK, topP, value, repetition, presence, frequency);
    }

    Sampling seed(long seed) {
      return new Sampling(
          temperature,
          topK,
          topP,
          minP,
          repetition,
          presence,
          frequency,
          NOTHING,
          new float[0],
          seed,
          -1);
    }
  }

  private float[] logits() {
    float[] logits = new float[AT + VOCABULARY];
    for (int i = 0; i < VOCABULARY; i++) {
      logits[AT + i] = (float) random.nextGaussian() * 3;
    }
    return logits;
  }

  /** A few tokens that matter, the others far below. */
  private static float[] few(double... probabilities) {
    float[] logits = new float[AT + VOCABULARY];
    Arrays.fill(logits, -200);
    for (int i = 0; i < probabilities.length; i++) {
      logits[AT + i] = (float) Math.log(probabilities[i]);
    }
    return logits;
  }

  private int sample(float[] logits, Sampling sampling, int position) {
    return sampler.sample(new Sampler.Row(logits, AT), sampling, NONE, position, null).id();
  }

  private static int argmax(float[] logits) {
    return IntStream.range(0, VOCABULARY)
        .reduce((a, b) -> logits[AT + b] > logits[AT + a] ? b : a)
        .getAsInt();
  }

  @Test
  void without_temperature_the_best_token_is_chosen_and_of_equal_ones_the_lowest_id() {
    float[] logits = logits();
    assertThat(sample(logits, Sampling.GREEDY, 0)).isEqualTo(argmax(logits));
    logits[AT + 700] = 99;
    logits[AT + 300] = 99;
    assertThat(sample(logits, Sampling.GREEDY, 0)).isEqualTo(300);
  }

  @ParameterizedTest
  @ValueSource(floats = {1e-4f, 1e-7f, 1e-30f, Float.MIN_VALUE})
  void a_tiny_temperature_is_greedy(float temperature) {
    float[] logits = logits();
    for (int position = 0; position < 50; position++) {
      Options options = Options.PLAIN.temperature(temperature);
      assertThat(sample(logits, options.seed(3), position)).isEqualTo(argmax(logits));
      assertThat(sample(logits, options.topP(0.9f).seed(3), position)).isEqualTo(argmax(logits));
    }
  }

  @Test
  void a_tiny_top_p_or_a_top_k_of_one_or_a_min_p_of_one_is_greedy() {
    float[] logits = logits();
    for (int position = 0; position < 50; position++) {
      for (Options options :
          new Options[] {Options.PLAIN.topP(1e-9f), Options.PLAIN.topK(1), Options.PLAIN.minP(1)}) {
        assertThat(sample(logits, options.seed(3), position)).isEqualTo(argmax(logits));
      }
    }
  }

  @Test
  void draws_follow_the_probabilities() {
    int[] counts = counts(few(0.6, 0.3, 0.1), Options.PLAIN, 3);
    assertThat(counts[0] / 20_000.0).isCloseTo(0.6, within(0.02));
    assertThat(counts[1] / 20_000.0).isCloseTo(0.3, within(0.02));
    assertThat(counts[2] / 20_000.0).isCloseTo(0.1, within(0.02));
  }

  @Test
  void a_higher_temperature_makes_them_more_equal() {
    int[] counts = counts(few(0.8, 0.2), Options.PLAIN.temperature(2), 2);
    assertThat(counts[1] / 20_000.0).isCloseTo(1 / 3.0, within(0.02));
  }

  @Test
  void top_k_leaves_the_k_best() {
    int[] counts = counts(few(0.2, 0.5, 0.3), Options.PLAIN.topK(2), 3);
    assertThat(counts[0]).isZero();
    assertThat(counts[1] / 20_000.0).isCloseTo(0.5 / 0.8, within(0.02));
  }

  @Test
  void top_p_leaves_the_fewest_that_reach_it() {
    int[] counts = counts(few(0.1, 0.5, 0.4), Options.PLAIN.topP(0.8f), 3);
    assertThat(counts[0]).isZero();
    assertThat(counts[1] / 20_000.0).isCloseTo(0.5 / 0.9, within(0.02));
  }

  @Test
  void top_p_is_of_what_top_k_left() {
    int[] counts = counts(few(0.5, 0.4, 0.1), Options.PLAIN.topK(2).topP(0.55f), 3);
    assertThat(counts[0]).isEqualTo(20_000);
  }

  @Test
  void min_p_is_relative_to_the_best() {
    int[] counts = counts(few(0.5, 0.3, 0.2), Options.PLAIN.minP(0.5f), 3);
    assertThat(counts[2]).isZero();
    assertThat(counts[1] / 20_000.0).isCloseTo(0.3 / 0.8, within(0.02));
  }

  @Test
  void top_p_looks_as_far_down_as_it_must() {
    float[] flat = new float[AT + VOCABULARY];
    boolean[] seen = new boolean[VOCABULARY];
    for (int position = 0; position < 20_000; position++) {
      seen[sample(flat, Options.PLAIN.topP(0.9f).seed(1), position)] = true;
    }
    int expected = (int) Math.ceil(0.9f * VOCABULARY);
    assertThat(IntStream.range(0, VOCABULARY).filter(id -> seen[id])).hasSize(expected);
    assertThat(seen[expected - 1]).isTrue();
  }

  private int[] counts(float[] logits, Options options, int ids) {
    int[] counts = new int[ids];
    for (int position = 0; position < 20_000; position++) {
      counts[sample(logits, options.seed(11), position)]++;
    }
    return counts;
  }

  @Test
  void the_same_seed_and_position_draw_the_same_and_others_do_not() {
    float[] logits = new float[AT + VOCABULARY];
    int[] first = draws(logits, 7);
    assertThat(draws(logits, 7)).isEqualTo(first);
    assertThat(draws(logits, 8)).isNotEqualTo(first);
    assertThat(Arrays.stream(first).distinct().count()).isGreaterThan(30);
  }

  private int[] draws(float[] logits, long seed) {
    return IntStream.range(0, 40)
        .map(position -> sample(logits, Options.PLAIN.seed(seed), position))
        .toArray();
  }

  @Test
  void draws_are_spread_evenly_over_positions_and_over_seeds() {
    double positions = IntStream.range(0, 10_000).mapToDouble(i -> Draws.uniform(5, i)).sum();
    double seeds = IntStream.range(0, 10_000).mapToDouble(i -> Draws.uniform(i, 5)).sum();
    assertThat(positions / 10_000).isCloseTo(0.5, within(0.015));
    assertThat(seeds / 10_000).isCloseTo(0.5, within(0.015));
    assertThat(Draws.uniform(0, 0)).isNotEqualTo(Draws.uniform(0, 1));
  }

  @Test
  void penalties_lower_what_was_there_by_the_documented_amounts() {
    float[] logits = few(0.4, 0.3, 0.3);
    logits[AT] = 4;
    logits[AT + 1] = 3;
    logits[AT + 2] = -1;
    Sampler.Before before = new Sampler.Before(new int[] {0, 0, 2}, 0);
    assertThat(greedy(logits, penalties(1, 0.4f, 0.2f), before)).isZero();
    assertThat(greedy(logits, penalties(1, 0.4f, 0.4f), before)).isEqualTo(1);
    assertThat(greedy(logits, penalties(1.3f, 0, 0), before)).isZero();
    assertThat(greedy(logits, penalties(1.4f, 0, 0), before)).isEqualTo(1);
    logits[AT] = -9;
    logits[AT + 1] = -1.5f;
    assertThat(greedy(logits, penalties(1.4f, 0, 0), before)).isEqualTo(2);
    assertThat(greedy(logits, penalties(1.6f, 0, 0), before)).isEqualTo(1);
  }

  @Test
  void presence_and_frequency_count_the_output_and_repetition_the_prompt_too() {
    float[] logits = few(0.4, 0.3, 0.3);
    logits[AT] = 4;
    logits[AT + 1] = 3;
    int[] tokens = {0, 0, 0, 5};
    assertThat(greedy(logits, penalties(1, 2, 2), new Sampler.Before(tokens, 4))).isZero();
    assertThat(greedy(logits, penalties(1.4f, 0, 0), new Sampler.Before(tokens, 9))).isEqualTo(1);
    // Two of the three are output.
    Sampler.Before half = new Sampler.Before(tokens, 1);
    assertThat(greedy(logits, penalties(1, 0, 0.45f), half)).isZero();
    assertThat(greedy(logits, penalties(1, 0, 0.55f), half)).isEqualTo(1);
    assertThat(greedy(logits, penalties(1, 1.1f, 0), half)).isEqualTo(1);
    assertThat(greedy(logits, penalties(1, 0.9f, 0), half)).isZero();
  }

  @Test
  void what_was_penalised_once_is_forgotten_afterwards() {
    float[] logits = few(0.6, 0.4);
    logits[AT] = 3;
    logits[AT + 1] = 2;
    Sampling sampling = penalties(1, 0, 0.6f);
    Sampler.Before once = new Sampler.Before(new int[] {0}, 0);
    assertThat(greedy(logits, sampling, once)).isZero();
    assertThat(greedy(logits, sampling, once)).isZero();
    assertThat(greedy(logits, sampling, new Sampler.Before(new int[] {0, 0}, 0))).isEqualTo(1);
  }

  private static Sampling penalties(float repetition, float presence, float frequency) {
    return new Sampling(0, 0, 1, 0, repetition, presence, frequency, NOTHING, new float[0], 0, -1);
  }

  private int greedy(float[] logits, Sampling sampling, Sampler.Before before) {
    return sampler.sample(new Sampler.Row(logits, AT), sampling, before, 9, null).id();
  }

  @Test
  void a_bias_moves_a_token_and_leaves_the_log_probabilities() {
    float[] logits = few(0.7, 0.2, 0.1);
    Sampling biased = new Sampling(0, 0, 1, 0, 1, 0, 0, new int[] {2}, new float[] {100}, 0, 1);
    SampledToken token = sampler.sample(new Sampler.Row(logits, AT), biased, NONE, 0, null);
    assertThat(token.id()).isEqualTo(2);
    assertThat(token.logprob()).isCloseTo((float) Math.log(0.1), within(1e-5f));
    assertThat(token.topIds()).containsExactly(0);
  }

  @Test
  void log_probabilities_are_those_of_the_raw_logits() {
    float[] logits = logits();
    double sum = IntStream.range(0, VOCABULARY).mapToDouble(i -> Math.exp(logits[AT + i])).sum();
    Integer[] ranked = IntStream.range(0, VOCABULARY).boxed().toArray(Integer[]::new);
    Arrays.sort(ranked, (a, b) -> Float.compare(logits[AT + b], logits[AT + a]));
    SampledToken token =
        sampler.sample(new Sampler.Row(logits, AT), Sampling.greedy(20), NONE, 0, null);
    assertThat(token.topIds()).hasSize(20);
    for (int rank = 0; rank < 20; rank++) {
      assertThat(token.topIds()[rank]).isEqualTo(ranked[rank]);
      assertThat((double) token.topLogprobs()[rank])
          .isCloseTo(logits[AT + ranked[rank]] - Math.log(sum), within(1e-5));
    }
    assertThat(token.logprob()).isEqualTo(token.topLogprobs()[0]);
  }

  @Test
  void numbers_that_are_none_harm_nothing() {
    float[] logits = logits();
    Arrays.fill(logits, AT, AT + 10, Float.NaN);
    logits[AT + 20] = Float.NEGATIVE_INFINITY;
    logits[AT + 30] = Float.POSITIVE_INFINITY;
    for (Options options :
        new Options[] {
          Options.PLAIN, Options.PLAIN.topP(0.5f), Options.PLAIN.temperature(1e-40f)
        }) {
      assertThat(sample(logits.clone(), options.seed(1), 0)).isEqualTo(30);
    }
    Arrays.fill(logits, Float.NaN);
    SampledToken token =
        sampler.sample(new Sampler.Row(logits, AT), Sampling.greedy(5), NONE, 0, null);
    assertThat(token.id()).isZero();
    assertThat(token.logprob()).isCloseTo((float) -Math.log(VOCABULARY), within(1e-4f));
  }
}
