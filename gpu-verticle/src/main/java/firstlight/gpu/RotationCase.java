package firstlight.gpu;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A Step whose heads are turned and kept, and what plain arithmetic with doubles makes of them.
 *
 * @param queries {@code [row][head][element]}; {@code keys} and {@code values} of the KV heads
 * @param turns cosine and sine of each position and pair
 * @param norm of queries and keys; empty: none
 */
record RotationCase(
    CheckLayer layer,
    StepRows rows,
    float[] queries,
    float[] keys,
    float[] values,
    float[] turns,
    int pairs,
    boolean isInterleaved,
    float[] norm) {
  static final int HEAD_SIZE = 64;
  static final int HEADS = 6;
  private static final float EPSILON = 1e-6f;
  private static final int POSITIONS = 64;

  /** What the kernel made: queries, and the whole KV memory, halves. */
  record Outcome(short[] queries, short[] memory) {}

  /**
   * @param rotated elements of a head
   */
  static RotationCase random(
      CheckMemory memory, boolean isInterleaved, int rotated, boolean hasNorms, Random random) {
    StepRows rows =
        CheckSlices.rows(
            List.of(
                CheckSlices.silent(14, 5, CheckLayer.blocks(2, random)),
                CheckSlices.silent(33, 1, CheckLayer.blocks(3, random))));
    int kept = rows.count() * CheckLayer.KV_HEADS * HEAD_SIZE;
    return new RotationCase(
        new CheckLayer(memory, HEAD_SIZE, 16, random),
        rows,
        Bf16.gaussians(rows.count() * HEADS * HEAD_SIZE, random),
        Bf16.gaussians(kept, random),
        Bf16.gaussians(kept, random),
        turns(rotated / 2),
        rotated / 2,
        isInterleaved,
        hasNorms ? Bf16.gaussians(HEAD_SIZE, random) : new float[0]);
  }

  private static float[] turns(int pairs) {
    float[] turns = new float[2 * pairs * POSITIONS];
    for (int i = 0; i < pairs * POSITIONS; i++) {
      double angle = i / pairs * Math.pow(10_000, -(double) (i % pairs) / pairs);
      turns[2 * i] = (float) Math.cos(angle);
      turns[2 * i + 1] = (float) Math.sin(angle);
    }
    return turns;
  }

  /** What a head becomes that begins there. */
  double[] turned(float[] from, int at, int position) {
    double[] x = Bf16.doubles(Arrays.copyOfRange(from, at, at + HEAD_SIZE));
    if (norm.length > 0) {
      double sum = Arrays.stream(x).map(each -> each * each).sum();
      for (int i = 0; i < HEAD_SIZE; i++) {
        x[i] = x[i] / Math.sqrt(sum / HEAD_SIZE + EPSILON) * norm[i];
      }
    }
    for (int i = 0; i < pairs; i++) {
      int first = isInterleaved ? 2 * i : i;
      int second = isInterleaved ? 2 * i + 1 : i + pairs;
      double cosine = turns[2 * (position * pairs + i)];
      double sine = turns[2 * (position * pairs + i) + 1];
      double a = x[first];
      double b = x[second];
      x[first] = a * cosine - b * sine;
      x[second] = a * sine + b * cosine;
    }
    return x;
  }

  Outcome run(CheckMemory memory, Kernels kernels) {
    long out = memory.room(queries.length * 2L);
    long normAt = norm.length > 0 ? memory.floats(norm) : 0;
    KernelArguments.Heads heads =
        new KernelArguments.Heads(
            memory.floats(queries),
            memory.floats(keys),
            memory.floats(values),
            HEADS,
            normAt,
            normAt,
            EPSILON,
            memory.floats(turns),
            pairs,
            isInterleaved);
    memory.run(
        kernels.rotate(
            new KernelArguments.Rotation(
                heads,
                memory.ints(CheckLayer.tables(rows)),
                memory.ints(CheckLayer.tableOf(rows)),
                memory.ints(rows.positions()),
                out,
                layer.memory(),
                memory.counts(rows.count(), 0, 0, 1)),
            8));
    return new Outcome(memory.readShorts(out), memory.readShorts(layer.memory().base()));
  }
}
