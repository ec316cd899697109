package firstlight.gpu;

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

/** Whether the GPU chooses what the cpu device's sampler chooses, whatever the options. */
final class SampleCheck {
  private static final int VOCABULARY = 1003;
  private static final int ROWS = 32;
  private static final int ROUNDS = 4;
  private static final float TOLERANCE = 2e-5f;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final CudaShape shape = new CudaShape(64, 512, 32, 16, 1);
  private final Random random = new Random(1);

  private SampleCheck(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
  }

  static void run(CheckBench bench) {
    if (ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
      throw new UnsupportedOperationException(
          "the cpu device's sampler needs --add-modules jdk.incubator.vector");
    }
    try (CheckMemory memory = bench.memory()) {
      SampleCheck check = new SampleCheck(bench, memory);
      StepStaging staging = new StepStaging(bench.gpu(), check.shape, VOCABULARY);
      for (int round = 0; round < ROUNDS; round++) {
        check.round(staging, round);
      }
    }
  }

  private void round(StepStaging staging, int round) {
    float[] logits = new float[ROWS * VOCABULARY];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) (random.nextGaussian() * (0.5 + 2 * round));
    }
    List<Slice> slices = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      slices.add(slice(random.ints(1 + random.nextInt(60), 0, VOCABULARY).toArray()));
    }
    List<SampledToken> tokens = sample(staging, slices, logits);
    int same = 0;
    for (int i = 0; i < ROWS; i++) {
      same += isSame(tokens.get(i), expected(slices.get(i), logits, i * VOCABULARY)) ? 1 : 0;
    }
    String what = "round %d, %d of %d rows as on the cpu device".formatted(round, same, ROWS);
    // Exponentials differ in their last bit, which may decide a draw in a hundred thousand.
    bench.require("sample", what, same >= (bench.sizes().isSimulated() ? ROWS : ROWS - 1));
  }

  private Slice slice(int[] tokens) {
    return new Slice(
        new GenerationId("g"),
        new int[] {tokens[tokens.length - 1]},
        tokens.length - 1,
        new int[(tokens.length + 15) / 16],
        1,
        anyOptions(),
        random.nextInt(tokens.length + 1),
        Arrays.copyOf(tokens, tokens.length - 1),
        anyMask());
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

  private List<SampledToken> sample(StepStaging staging, List<Slice> slices, float[] logits) {
    RunStep step = new RunStep(1, slices);
    StepRows rows = StepRows.of(step);
    StepBucket bucket = shape.bucket(ROWS, ROWS, 1);
    int[] tableOf = staging.tables(rows);
    staging.write(rows, bucket, tableOf, StepTiles.of(rows, tableOf, 1));
    staging.send(bucket);
    StepLayout layout = StepLayout.of(bucket, shape.tiles(bucket.rows()));
    long answers = memory.room((long) bucket.sampled() * StepLayout.ANSWER_BYTES);
    memory.run(
        bench
            .kernels()
            .sample(
                new KernelArguments.Sample(
                    memory.floats(logits),
                    memory.room(logits.length * 4L),
                    staging.told() + layout.choices(),
                    staging.extras(),
                    answers,
                    staging.told(),
                    VOCABULARY,
                    0,
                    0),
                bucket.sampled()));
    MemorySegment read = MemorySegment.ofArray(memory.readInts(answers));
    return Answers.read(step, read, VOCABULARY).stream()
        .map(result -> result.tokens().getFirst())
        .toList();
  }

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

  private static boolean isSame(SampledToken actual, SampledToken expected) {
    boolean same =
        actual.id() == expected.id()
            && Arrays.equals(actual.topIds(), expected.topIds())
            && Math.abs(actual.logprob() - expected.logprob()) <= TOLERANCE;
    for (int i = 0; same && i < expected.topIds().length; i++) {
      same = Math.abs(actual.topLogprobs()[i] - expected.topLogprobs()[i]) <= TOLERANCE;
    }
    return same;
  }
}
