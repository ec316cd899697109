package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import firstlight.gpu.cuda.SimulatedDriver;
import firstlight.protocol.GenerationId;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.lang.foreign.MemorySegment;
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
  private static final int VOCABULARY = 1003;

  private static SimulatedGpu gpu;
  private static StepStaging staging;
  private static CudaShape shape;

  private final Random random = new Random(SEED);

  @BeforeAll
  static void open() {
    gpu = SimulatedGpu.open();
    shape = new CudaShape(64, 512, 32, 16, 1);
    staging = new StepStaging(gpu.gpu, shape, VOCABULARY);
  }

  @AfterAll
  static void close() {
    if (gpu != null) {
      gpu.close();
    }
  }

  /** A Sequence of some tokens whose last position is sampled. */
  private static Slice slice(int[] tokens, int prompt, Sampling sampling, long[]... allowed) {
    return new Slice(
        new GenerationId("g"),
        new int[] {tokens[tokens.length - 1]},
        tokens.length - 1,
        new int[(tokens.length + 15) / 16],
        1,
        sampling,
        prompt,
        Arrays.copyOf(tokens, tokens.length - 1),
        allowed);
  }

  /** What the kernel chooses. */
  private static List<SampledToken> sample(List<Slice> slices, float[] logits, float softcap) {
    RunStep step = new RunStep(1, slices);
    StepRows rows = StepRows.of(step);
    int count = slices.size();
    StepBucket bucket = shape.bucket(count, count, 1);
    int[] tableOf = staging.tables(rows);
    staging.write(rows, bucket, tableOf, StepTiles.of(rows, tableOf, 1));
    staging.send(bucket);
    StepLayout layout = StepLayout.of(bucket, shape.tiles(bucket.rows()));
    long answers = gpu.room((long) bucket.sampled() * StepLayout.ANSWER_BYTES);
    gpu.run(
        gpu.kernels.sample(
            new KernelArguments.Sample(
                gpu.floats(logits),
                gpu.room(logits.length * 4L),
                staging.told() + layout.choices(),
                staging.extras(),
                answers,
                staging.told(),
                VOCABULARY,
                softcap,
                0),
            bucket.sampled()));
    MemorySegment read = MemorySegment.ofArray(gpu.ints(answers));
    return Answers.read(step, read, VOCABULARY).stream()
        .map(result -> result.tokens().getFirst())
        .toList();
  }

  /** What the cpu device would choose. */
  private static SampledToken expected(Slice slice, float[] logits, int at) {
    int[] before = Arrays.copyOf(slice.history(), slice.history().length + 1);
    before[slice.history().length] = slice.tokens()[0];
    return new Sampler(VOCABULARY)
        .sample(
            new Sampler.Row(Arrays.copyOfRange(logits, at, at + VOCABULARY), 0),
            slice.sampling(),
            new Sampler.Before(before, slice.promptLength()),
            slice.end(),
            slice.allowedAt(slice.end() - 1));
  }

  private float[] logits(int rows, double spread) {
    float[] logits = new float[rows * VOCABULARY];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) (random.nextGaussian() * spread);
    }
    return logits;
  }

  private Sampling anyOptions() {
    boolean penalises = random.nextBoolean();
    boolean biases = random.nextBoolean();
    return new Sampling(
        random.nextInt(4) == 0 ? 0 : 0.2f + random.nextFloat() * 1.5f,
        random.nextBoolean() ? 0 : 1 + random.nextInt(60),
        random.nextBoolean() ? 1 : 0.05f + random.nextFloat() * 0.9f,
        random.nextBoolean() ? 0 : random.nextFloat() * 0.2f,
        penalises ? 0.7f + random.nextFloat() : 1,
        penalises ? random.nextFloat() * 2 - 1 : 0,
        penalises ? random.nextFloat() : 0,
        biases ? new int[] {3, 500, 3} : new int[0],
        biases ? new float[] {2, -1, 0.5f} : new float[0],
        random.nextLong(),
        random.nextInt(22) - 1);
  }

  private long[][] anyMask() {
    if (random.nextInt(3) > 0) {
      return new long[0][];
    }
    long[] mask = new long[(VOCABULARY + 63) / 64];
    for (int i = 0; i < 40; i++) {
      int id = random.nextInt(VOCABULARY);
      mask[id >> 6] |= 1L << id;
    }
    return new long[][] {mask};
  }

  private static void assertSame(SampledToken actual, SampledToken expected, String what) {
    assertThat(actual.id()).as(what).isEqualTo(expected.id());
    assertThat(actual.topIds()).as(what).isEqualTo(expected.topIds());
    assertThat(actual.logprob()).as(what).isCloseTo(expected.logprob(), within(2e-5f));
    for (int i = 0; i < expected.topIds().length; i++) {
      assertThat(actual.topLogprobs()[i])
          .as(what)
          .isCloseTo(expected.topLogprobs()[i], within(2e-5f));
    }
  }

  @Test
  void the_cpu_devices_choice_is_made_whatever_the_options() {
    for (int round = 0; round < 12; round++) {
      float[] logits = logits(32, 0.5 + round % 4 * 2);
      List<Slice> slices = new ArrayList<>();
      for (int i = 0; i < 32; i++) {
        int[] tokens = random.ints(1 + random.nextInt(60), 0, VOCABULARY).toArray();
        slices.add(slice(tokens, random.nextInt(tokens.length + 1), anyOptions(), anyMask()));
      }
      List<SampledToken> tokens = sample(slices, logits, 0);
      for (int i = 0; i < 32; i++) {
        assertSame(
            tokens.get(i),
            expected(slices.get(i), logits, i * VOCABULARY),
            "-Dseed=%d round %d row %d %s".formatted(SEED, round, i, slices.get(i).sampling()));
      }
    }
  }

  @Test
  void the_first_of_equal_tokens_is_the_best() {
    float[] logits = new float[VOCABULARY];
    logits[700] = 5;
    logits[300] = 5;
    List<Slice> slices = List.of(slice(new int[] {1}, 1, Sampling.greedy(3)));
    SampledToken token = sample(slices, logits, 0).getFirst();
    assertThat(token.id()).isEqualTo(300);
    assertThat(token.topIds()).containsExactly(300, 700, 0);
  }

  @Test
  void broken_logits_harm_nobody() {
    float[] logits = logits(2, 1);
    logits[10] = Float.NaN;
    logits[20] = Float.NEGATIVE_INFINITY;
    logits[30] = Float.POSITIVE_INFINITY;
    Arrays.fill(logits, VOCABULARY, 2 * VOCABULARY, Float.NaN);
    Slice greedy = slice(new int[] {1}, 1, Sampling.greedy(1));
    List<SampledToken> tokens = sample(List.of(greedy, greedy), logits, 0);
    assertThat(tokens.get(0).id()).isEqualTo(30);
    assertThat(tokens.get(0).logprob()).isZero();
    assertThat(tokens.get(1).id()).isZero();
    assertThat(tokens.get(1).logprob()).isCloseTo((float) -Math.log(VOCABULARY), within(1e-4f));
  }

  @Test
  void logits_are_softened_where_the_model_does() {
    float[] logits = logits(1, 30);
    Slice slice = slice(new int[] {1}, 1, Sampling.greedy(5));
    float[] softened = logits.clone();
    for (int i = 0; i < softened.length; i++) {
      softened[i] = (float) (15 * Math.tanh(softened[i] / 15));
    }
    assertSame(
        sample(List.of(slice), logits, 15).getFirst(), expected(slice, softened, 0), "softcap");
  }

  @Test
  void the_order_of_threads_changes_nothing() {
    float[] logits = logits(4, 2);
    List<Slice> slices = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      slices.add(
          slice(
              new int[] {1, 2, 3},
              1,
              new Sampling(0.9f, i * 10, 0.9f, 0, 1.1f, 0.1f, 0, new int[0], new float[0], i, 20)));
    }
    List<SampledToken> natural = sample(slices, logits, 0);
    for (int order = 1; order <= 10; order++) {
      SimulatedDriver.order(order);
      List<SampledToken> tokens = sample(slices, logits, 0);
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
        slice(
            new int[] {1}, 1, new Sampling(0, 0, 1, 0, 1, 0, 0, ids, values, 1, -1), new long[0][]);
    assertThat(sample(List.of(slice), logits(1, 1), 0).getFirst().id()).isEqualTo(77);
  }
}
