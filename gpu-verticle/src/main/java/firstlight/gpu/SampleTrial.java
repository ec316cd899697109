package firstlight.gpu;

import firstlight.gpu.cuda.Gpu;
import firstlight.protocol.GenerationId;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Samples rows of logits on a GPU, and with the cpu device's sampler. */
final class SampleTrial {
  static final int VOCABULARY = 1003;

  /** By how much log-probabilities may differ. */
  static final float TOLERANCE = 2e-5f;

  private final CudaShape shape = new CudaShape(64, 512, 32, 16, 1);
  private final CheckMemory memory;
  private final Kernels kernels;
  private final StepStaging staging;

  SampleTrial(Gpu gpu, CheckMemory memory) {
    this.memory = memory;
    kernels = new Kernels(gpu);
    staging = new StepStaging(gpu, shape, VOCABULARY);
  }

  /** A Sequence of some tokens whose last position is sampled. */
  static Slice slice(int[] tokens, int prompt, Sampling sampling, long[]... allowed) {
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

  /** The same with anything for all of them. */
  static Slice anySlice(Random random) {
    int[] tokens = random.ints(1 + random.nextInt(60), 0, VOCABULARY).toArray();
    return slice(tokens, random.nextInt(tokens.length + 1), anyOptions(random), anyMask(random));
  }

  static float[] logits(int rows, double spread, Random random) {
    float[] logits = new float[rows * VOCABULARY];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) (random.nextGaussian() * spread);
    }
    return logits;
  }

  private static Sampling anyOptions(Random random) {
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

  private static long[][] anyMask(Random random) {
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

  /**
   * What the kernel chooses.
   *
   * @param softcap 0: none
   */
  List<SampledToken> sample(List<Slice> slices, float[] logits, float softcap) {
    RunStep step = new RunStep(1, slices);
    StepRows rows = StepRows.of(step);
    StepBucket bucket = shape.bucket(slices.size(), slices.size(), 1);
    int[] tableOf = staging.tables(rows);
    staging.write(rows, bucket, tableOf, StepTiles.of(rows, tableOf, 1));
    staging.send(bucket);
    StepLayout layout = StepLayout.of(bucket, shape.tiles(bucket.rows()));
    long answers = memory.room((long) bucket.sampled() * StepLayout.ANSWER_BYTES);
    memory.run(
        kernels.sample(
            new KernelArguments.Sample(
                memory.floats(logits),
                memory.room(logits.length * 4L),
                staging.told() + layout.choices(),
                staging.extras(),
                answers,
                staging.told(),
                VOCABULARY,
                softcap,
                0),
            bucket.sampled()));
    MemorySegment read = MemorySegment.ofArray(memory.readInts(answers));
    return Answers.read(step, read, VOCABULARY).stream()
        .map(result -> result.tokens().getFirst())
        .toList();
  }

  /** What the cpu device would choose. */
  static SampledToken expected(Slice slice, float[] logits, int row) {
    int[] before = Arrays.copyOf(slice.history(), slice.history().length + 1);
    before[slice.history().length] = slice.tokens()[0];
    return new Sampler(VOCABULARY)
        .sample(
            new Sampler.Row(
                Arrays.copyOfRange(logits, row * VOCABULARY, (row + 1) * VOCABULARY), 0),
            slice.sampling(),
            new Sampler.Before(before, slice.promptLength()),
            slice.end(),
            slice.allowedAt(slice.end() - 1));
  }
}
