package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** From logits to tokens on the simulated driver: what the cpu device's sampler chooses. */
class SampleKernelTest {
  private static final long SEED = Long.getLong("seed", 1);
  private static final int VOCABULARY = SampleTrial.VOCABULARY;

  private static SimulatedGpu gpu;
  private static SampleTrial trial;

  private final Random random = new Random(SEED);

  @BeforeAll
  static void open() {
    gpu = SimulatedGpu.open();
    trial = new SampleTrial(gpu.gpu, gpu.memory);
  }

  @AfterAll
  static void close() {
    if (gpu != null) {
      gpu.close();
    }
  }

  private static void assertSame(SampledToken actual, SampledToken expected, String what) {
    assertThat(actual.id()).as(what).isEqualTo(expected.id());
    assertThat(actual.topIds()).as(what).isEqualTo(expected.topIds());
    assertThat(actual.logprob())
        .as(what)
        .isCloseTo(expected.logprob(), within(SampleTrial.TOLERANCE));
    for (int i = 0; i < expected.topIds().length; i++) {
      assertThat(actual.topLogprobs()[i])
          .as(what)
          .isCloseTo(expected.topLogprobs()[i], within(SampleTrial.TOLERANCE));
    }
  }

  @Test
  void the_cpu_devices_choice_is_made_whatever_the_options() {
    for (int round = 0; round < 12; round++) {
      float[] logits = SampleTrial.logits(32, 0.5 + round % 4 * 2, random);
      List<Slice> slices = new ArrayList<>();
      for (int i = 0; i < 32; i++) {
        slices.add(SampleTrial.anySlice(random));
      }
      List<SampledToken> tokens = trial.sample(slices, logits, 0);
      for (int i = 0; i < 32; i++) {
        assertSame(
            tokens.get(i),
            SampleTrial.expected(slices.get(i), logits, i),
            "-Dseed=%d round %d row %d %s".formatted(SEED, round, i, slices.get(i).sampling()));
      }
    }
  }

  @Test
  void the_first_of_equal_tokens_is_the_best() {
    float[] logits = new float[VOCABULARY];
    logits[700] = 5;
    logits[300] = 5;
    List<Slice> slices = List.of(SampleTrial.slice(new int[] {1}, 1, Sampling.greedy(3)));
    SampledToken token = trial.sample(slices, logits, 0).getFirst();
    assertThat(token.id()).isEqualTo(300);
    assertThat(token.topIds()).containsExactly(300, 700, 0);
  }

  @Test
  void broken_logits_harm_nobody() {
    float[] logits = SampleTrial.logits(2, 1, random);
    logits[10] = Float.NaN;
    logits[20] = Float.NEGATIVE_INFINITY;
    logits[30] = Float.POSITIVE_INFINITY;
    Arrays.fill(logits, VOCABULARY, 2 * VOCABULARY, Float.NaN);
    Slice greedy = SampleTrial.slice(new int[] {1}, 1, Sampling.greedy(1));
    List<SampledToken> tokens = trial.sample(List.of(greedy, greedy), logits, 0);
    assertThat(tokens.get(0).id()).isEqualTo(30);
    assertThat(tokens.get(0).logprob()).isZero();
    assertThat(tokens.get(1).id()).isZero();
    assertThat(tokens.get(1).logprob()).isCloseTo((float) -Math.log(VOCABULARY), within(1e-4f));
  }

  @Test
  void logits_are_softened_where_the_model_does() {
    float[] logits = SampleTrial.logits(1, 30, random);
    Slice slice = SampleTrial.slice(new int[] {1}, 1, Sampling.greedy(5));
    float[] softened = logits.clone();
    for (int i = 0; i < softened.length; i++) {
      softened[i] = (float) (15 * Math.tanh(softened[i] / 15));
    }
    assertSame(
        trial.sample(List.of(slice), logits, 15).getFirst(),
        SampleTrial.expected(slice, softened, 0),
        "softcap");
  }

  @Test
  void the_order_of_threads_changes_nothing() {
    float[] logits = SampleTrial.logits(4, 2, random);
    List<Slice> slices = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      slices.add(
          SampleTrial.slice(
              new int[] {1, 2, 3},
              1,
              new Sampling(0.9f, i * 10, 0.9f, 0, 1.1f, 0.1f, 0, new int[0], new float[0], i, 20)));
    }
    List<SampledToken> natural = trial.sample(slices, logits, 0);
    for (int order = 1; order <= 10; order++) {
      SimulatedDriver.order(order);
      List<SampledToken> tokens = trial.sample(slices, logits, 0);
      for (int i = 0; i < 4; i++) {
        assertThat(tokens.get(i).id()).isEqualTo(natural.get(i).id());
        assertThat(tokens.get(i).logprob()).isEqualTo(natural.get(i).logprob());
        assertThat(tokens.get(i).topLogprobs()).isEqualTo(natural.get(i).topLogprobs());
      }
    }
    SimulatedDriver.order(0);
  }

  @Test
  void more_lists_than_there_was_room_for_get_more_room() {
    int[] ids = new int[200_000];
    Arrays.setAll(ids, i -> i % VOCABULARY);
    float[] values = new float[ids.length];
    values[VOCABULARY * 7 + 77] = 100;
    Slice slice =
        SampleTrial.slice(
            new int[] {1}, 1, new Sampling(0, 0, 1, 0, 1, 0, 0, ids, values, 1, -1), new long[0][]);
    assertThat(trial.sample(List.of(slice), SampleTrial.logits(1, 1, random), 0).getFirst().id())
        .isEqualTo(77);
  }
}
