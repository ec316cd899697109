package firstlight.gpu;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** How heads are turned, and how keys and values are kept. */
final class RotationCheck {
  private static final double TOLERANCE = 3.5e-4;
  private static final float EPSILON = 1e-6f;
  private static final int HEAD_SIZE = 64;
  private static final int HEADS = 6;
  private static final int POSITIONS = 64;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final Random random = new Random(1);

  private RotationCheck(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
  }

  /** How heads are turned; the norm may be empty. */
  private record Turned(float[] turns, int pairs, boolean isInterleaved, float[] norm) {
    double[] of(float[] from, int at, int position) {
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
  }

  static void run(CheckBench bench) {
    try (CheckMemory memory = bench.memory()) {
      RotationCheck check = new RotationCheck(bench, memory);
      check.check(false, 64, false);
      check.check(true, 64, false);
      check.check(false, 40, true);
      check.check(true, 64, true);
    }
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

  private void check(boolean isInterleaved, int rotated, boolean hasNorms) {
    CheckLayer layer = new CheckLayer(memory, HEAD_SIZE, 16, random);
    StepRows rows =
        CheckSlices.rows(
            List.of(
                CheckSlices.silent(14, 5, CheckLayer.blocks(2, random)),
                CheckSlices.silent(33, 1, CheckLayer.blocks(3, random))));
    int count = rows.count();
    float[] queries = Bf16.gaussians(count * HEADS * HEAD_SIZE, random);
    float[] keys = Bf16.gaussians(count * CheckLayer.KV_HEADS * HEAD_SIZE, random);
    float[] values = Bf16.gaussians(count * CheckLayer.KV_HEADS * HEAD_SIZE, random);
    float[] norm = hasNorms ? Bf16.gaussians(HEAD_SIZE, random) : new float[0];
    Turned turned = new Turned(turns(rotated / 2), rotated / 2, isInterleaved, norm);
    long out = memory.room(queries.length * 2L);
    long normAt = hasNorms ? memory.floats(norm) : 0;
    KernelArguments.Heads heads =
        new KernelArguments.Heads(
            memory.floats(queries),
            memory.floats(keys),
            memory.floats(values),
            HEADS,
            normAt,
            normAt,
            EPSILON,
            memory.floats(turned.turns),
            turned.pairs,
            isInterleaved);
    memory.run(
        bench
            .kernels()
            .rotate(
                new KernelArguments.Rotation(
                    heads,
                    memory.ints(CheckLayer.tables(rows)),
                    memory.ints(CheckLayer.tableOf(rows)),
                    memory.ints(rows.positions()),
                    out,
                    layer.memory(),
                    memory.counts(count, 0, 0, 1)),
                8));
    String what =
        "%d elements, %s%s"
            .formatted(
                rotated, isInterleaved ? "interleaved" : "halves", hasNorms ? ", norms" : "");
    compareQueries(what, memory.readShorts(out), rows, turned, queries);
    compareKept(what, layer, rows, turned, keys, values);
  }

  private void compareQueries(
      String what, short[] bits, StepRows rows, Turned turned, float[] queries) {
    double[] actual = new double[bits.length];
    double[][] expected = new double[rows.count() * HEADS][];
    for (int i = 0; i < bits.length; i++) {
      actual[i] = Float.float16ToFloat(bits[i]);
    }
    for (int i = 0; i < expected.length; i++) {
      expected[i] = turned.of(queries, i * HEAD_SIZE, rows.positions()[i / HEADS]);
    }
    bench.compare(
        "rotate_store", what + ", queries", TOLERANCE, actual, KernelDistance.flat(expected));
  }

  private void compareKept(
      String what, CheckLayer layer, StepRows rows, Turned turned, float[] keys, float[] values) {
    short[] after = memory.readShorts(layer.memory().base());
    int kvHeads = CheckLayer.KV_HEADS;
    double[][] expectedKeys = new double[rows.count() * kvHeads][];
    double[][] keptKeys = new double[expectedKeys.length][HEAD_SIZE];
    double[][] keptValues = new double[expectedKeys.length][HEAD_SIZE];
    for (int i = 0; i < expectedKeys.length; i++) {
      int row = i / kvHeads;
      int position = rows.positions()[row];
      int[] blocks = rows.slice(row).blocks();
      expectedKeys[i] = turned.of(keys, i * HEAD_SIZE, position);
      for (int j = 0; j < HEAD_SIZE; j++) {
        keptKeys[i][j] = layer.key(after, blocks, position, i % kvHeads, j);
        keptValues[i][j] = layer.value(after, blocks, position, i % kvHeads, j);
      }
    }
    bench.compare(
        "rotate_store",
        what + ", keys",
        TOLERANCE,
        KernelDistance.flat(keptKeys),
        KernelDistance.flat(expectedKeys));
    bench.compare(
        "rotate_store",
        what + ", values",
        TOLERANCE,
        KernelDistance.flat(keptValues),
        Bf16.doubles(values));
  }
}
