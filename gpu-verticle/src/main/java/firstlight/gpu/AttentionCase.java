package firstlight.gpu;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A Step whose rows attend, and what plain arithmetic with doubles makes of it.
 *
 * @param group query heads of each KV head
 * @param softcap 0: none
 * @param window positions that a row sees, its own included
 */
record AttentionCase(CheckLayer layer, StepRows rows, int group, float softcap, int window) {
  static final int NO_WINDOW = Integer.MAX_VALUE;

  /** Numbers of one row's output. */
  int width() {
    return CheckLayer.KV_HEADS * group * layer.headSize();
  }

  /** Queries of all rows. */
  short[] queries(Random random) {
    return CheckLayer.halves(rows.count() * width(), random);
  }

  private float scale() {
    return (float) (1 / Math.sqrt(layer.headSize()));
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

  /**
   * What the kernels make, in their order of elements.
   *
   * @param isDealt whether blocks take a split of the context each
   */
  short[] run(CheckMemory memory, Kernels kernels, short[] queries, boolean isDealt) {
    StepTiles tiles = StepTiles.of(rows, CheckLayer.tableOf(rows), group);
    int splits = StepBucket.enough(tiles.splitsMax(), 1 << 20);
    int bucket = tiles.tiles().size() + 3;
    long out = memory.room(queries.length * 2L);
    long partials = (long) bucket * CheckLayer.KV_HEADS * splits * 16 * (layer.headSize() + 2);
    KernelArguments.Attend told =
        new KernelArguments.Attend(
            out,
            memory.room(partials * Float.BYTES),
            memory.shorts(queries),
            memory.ints(words(tiles)),
            memory.ints(CheckLayer.tables(rows)),
            new KernelArguments.Scores(group, scale(), softcap, window),
            layer.memory(),
            memory.counts(rows.count(), 0, tiles.tiles().size(), splits));
    if (isDealt) {
      memory.run(kernels.attendSplits(told, splits, bucket));
      memory.run(kernels.fold(told, bucket));
    } else {
      memory.run(kernels.attend(told, bucket));
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
