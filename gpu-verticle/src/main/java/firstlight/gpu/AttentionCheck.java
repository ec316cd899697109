package firstlight.gpu;

import firstlight.protocol.Slice;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Attention beside plain arithmetic with doubles, with splits of the context dealt out and not. */
final class AttentionCheck {
  /** Weights and values are halves, and the output is bf16. */
  private static final double TOLERANCE = 2.5e-3;

  private static final int NO_WINDOW = Integer.MAX_VALUE;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final Random random = new Random(1);

  private AttentionCheck(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
  }

  /** A Step and what its attention is made of. */
  private record Case(
      String what, CheckLayer layer, StepRows rows, int group, float softcap, int window) {
    float scale() {
      return (float) (1 / Math.sqrt(layer.headSize()));
    }

    int width() {
      return CheckLayer.KV_HEADS * group * layer.headSize();
    }

    double[] expected(short[] queries) {
      int heads = CheckLayer.KV_HEADS * group;
      double[] out = new double[rows.count() * width()];
      for (int row = 0; row < rows.count(); row++) {
        for (int head = 0; head < heads; head++) {
          attend(queries, row, head, out, (row * heads + head) * layer.headSize());
        }
      }
      return out;
    }

    private void attend(short[] queries, int row, int head, double[] out, int at) {
      int own = rows.positions()[row];
      int from = (int) Math.max(0, own + 1L - window);
      int[] blocks = rows.slice(row).blocks();
      double[] weights = new double[own + 1];
      for (int position = from; position <= own; position++) {
        double score = 0;
        for (int i = 0; i < layer.headSize(); i++) {
          double key = layer.key(layer.halves(), blocks, position, head / group, i);
          score += Float.float16ToFloat(queries[at + i]) * key;
        }
        score *= scale();
        weights[position] = Math.exp(softcap > 0 ? softcap * Math.tanh(score / softcap) : score);
      }
      double sum = Arrays.stream(weights).sum();
      for (int position = from; position <= own; position++) {
        for (int i = 0; i < layer.headSize(); i++) {
          double value = layer.value(layer.halves(), blocks, position, head / group, i);
          out[at + i] += weights[position] / sum * value;
        }
      }
    }
  }

  static void run(CheckBench bench) {
    for (int headSize : new int[] {32, 64, 96, 128, 256}) {
      try (CheckMemory memory = bench.memory()) {
        new AttentionCheck(bench, memory).mixed(headSize);
      }
    }
    try (CheckMemory memory = bench.memory()) {
      AttentionCheck check = new AttentionCheck(bench, memory);
      for (int[] sizes : new int[][] {{1, 16}, {4, 16}, {8, 32}, {16, 48}, {17, 16}, {40, 16}}) {
        check.group(sizes[0], sizes[1]);
      }
      for (int[] cut : new int[][] {{0, 1}, {0, 20}, {5, 20}, {5, 300}, {2, NO_WINDOW}}) {
        check.window(cut[0], cut[1]);
      }
    }
  }

  private Slice slice(int start, int count, int blockTokens) {
    int blocks = (start + count + blockTokens - 1) / blockTokens;
    return CheckSlices.silent(start, count, CheckLayer.blocks(blocks, random));
  }

  private void mixed(int headSize) {
    CheckLayer layer = new CheckLayer(memory, headSize, 16, random);
    StepRows rows =
        CheckSlices.rows(
            List.of(slice(0, 1, 16), slice(299, 1, 16), slice(0, 19, 16), slice(250, 11, 16)));
    check(new Case("prompts and tokens", layer, rows, 3, 0, NO_WINDOW));
  }

  private void group(int group, int blockTokens) {
    CheckLayer layer = new CheckLayer(memory, 64, blockTokens, random);
    StepRows rows = CheckSlices.rows(List.of(slice(40, 3, blockTokens), slice(63, 1, blockTokens)));
    String what = "groups of %d, Blocks of %d".formatted(group, blockTokens);
    check(new Case(what, layer, rows, group, 0, NO_WINDOW));
  }

  private void window(float softcap, int window) {
    CheckLayer layer = new CheckLayer(memory, 64, 16, random);
    StepRows rows =
        CheckSlices.rows(List.of(slice(700, 1, 16), slice(500, 37, 16), slice(3, 2, 16)));
    String what = "softcap %.0f, window %d".formatted(softcap, window);
    check(new Case(what, layer, rows, 2, softcap, window));
  }

  private void check(Case of) {
    short[] queries = CheckLayer.halves(of.rows.count() * of.width(), random);
    short[] whole = attended(of, queries, false);
    String kernel = "attend_" + of.layer.headSize();
    double[] actual = KernelDistance.flat(Bf16.rows(whole, of.width()));
    bench.compare(kernel, of.what, TOLERANCE, actual, of.expected(queries));
    bench.require(
        "attend_split_" + of.layer.headSize(),
        of.what + ", bits of " + kernel,
        Arrays.equals(attended(of, queries, true), whole));
  }

  /** Bits of the output in the kernels' order. */
  private short[] attended(Case of, short[] queries, boolean isDealt) {
    StepTiles tiles = StepTiles.of(of.rows, CheckLayer.tableOf(of.rows), of.group);
    int splits = StepBucket.enough(tiles.splitsMax(), 1 << 20);
    int bucket = tiles.tiles().size() + 3;
    long out = memory.room(queries.length * 2L);
    long partials = (long) bucket * CheckLayer.KV_HEADS * splits * 16 * (of.layer.headSize() + 2);
    KernelArguments.Attend told =
        new KernelArguments.Attend(
            out,
            memory.room(partials * Float.BYTES),
            memory.shorts(queries),
            memory.ints(words(tiles)),
            memory.ints(CheckLayer.tables(of.rows)),
            new KernelArguments.Scores(of.group, of.scale(), of.softcap, of.window),
            of.layer.memory(),
            memory.counts(of.rows.count(), 0, tiles.tiles().size(), splits));
    if (isDealt) {
      memory.run(bench.kernels().attendSplits(told, splits, bucket));
      memory.run(bench.kernels().fold(told, bucket));
    } else {
      memory.run(bench.kernels().attend(told, bucket));
    }
    return memory.readShorts(out);
  }

  /** As the kernels want them. */
  static int[] words(StepTiles tiles) {
    return tiles.tiles().stream()
        .flatMapToInt(
            tile ->
                IntStream.of(
                    tile.row(), tile.position(), tile.table(), tile.firstSlot(), tile.slots()))
        .toArray();
  }
}
