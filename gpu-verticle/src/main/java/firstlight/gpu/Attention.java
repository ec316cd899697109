package firstlight.gpu;

import static firstlight.gpu.AttentionKernels.QUAD;
import static firstlight.gpu.AttentionKernels.SCORES;
import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Some queries against the keys and values of their Sequence, read through the block table: the
 * query heads that share a KV head, of one or several neighbouring positions, so that keys and
 * values are read once for all of them. One thread's own.
 *
 * <p>The context is cut into splits of a fixed number of positions, counted from the beginning of
 * the Sequence. Each gives a {@link #split partial} result of its own, as if there were nothing
 * else, and partial results are {@link #fold folded} in the order of the splits. So it does not
 * matter who computes which split. What is added to what depends on the query's position only, not
 * on Blocks, chunks or the other queries: positions that a query does not see add zeros.
 *
 * <p>A partial result is, for each query, {@link #record} floats: the largest score and the sums of
 * the weights, a vector each, and the weighted values.
 */
final class Attention {
  /** Positions of a split. */
  static final int SPLIT = 256;

  /** Queries at most. */
  static final int QUERIES = 24;

  /** Less than any score, and finite, so that differences are numbers. */
  private static final float LOWEST = -1e30f;

  private final AttentionKernels kernels;
  private final int record;
  private final float scale;
  private final float softcap;

  /** What has been folded, in the form of a partial result. */
  private final float[] folded;

  /**
   * @param scale factor on products of query and key
   * @param softcap 0: none
   */
  Attention(KvMemory memory, int headSize, float scale, float softcap) {
    this.kernels = new AttentionKernels(memory, headSize);
    this.record = record(headSize);
    this.scale = scale;
    this.softcap = softcap;
    this.folded = new float[QUERIES * record];
  }

  /**
   * What the queries see.
   *
   * @param blocks the Sequence's block table
   * @param position of the first row
   * @param rows neighbouring positions
   * @param group queries of each row
   * @param window positions that a row sees, its own included
   */
  record View(int layer, int kvHead, int[] blocks, int position, int rows, int group, int window) {
    int queries() {
      return rows * group;
    }

    int quads() {
      return (queries() + QUAD - 1) / QUAD;
    }

    int from(int row) {
      return Math.max(0, to(row) - window);
    }

    /** The one after the row's own. */
    int to(int row) {
      return position + row + 1;
    }

    /** Where the head's part of the Block of a position is. */
    long part(int at, KvMemory memory) {
      return memory.part(layer, blocks[at / memory.blockTokens()], kvHead);
    }

    Positions positions(int split) {
      int start = split * SPLIT;
      return new Positions(start, Math.max(from(0), start), Math.min(to(rows - 1), start + SPLIT));
    }
  }

  /**
   * What any of the queries sees of a split.
   *
   * @param start of the split
   */
  record Positions(int start, int from, int to) {
    /** The first one whose score is in a vector with one that is seen. */
    int base() {
      return from / COUNT * COUNT;
    }
  }

  /** Floats of one query's partial result. */
  static int record(int headSize) {
    return 2 * COUNT + headSize;
  }

  /** Takes a query: those of the first row, then those of the second, and so on. */
  void query(int number, float[] head, int at) {
    kernels.query(number, head, at, scale);
  }

  /** Writes the partial result of a split, for as many queries as whole quads have. */
  void split(View view, int split, float[] into, int at) {
    Positions positions = view.positions(split);
    kernels.score(view, positions);
    int start = positions.start;
    for (int query = 0; query < view.queries(); query++) {
      int row = query / view.group;
      Span span =
          new Span(
              positions.base() - start,
              Math.max(view.from(row), start) - start,
              Math.min(view.to(row), positions.to) - start,
              Lanes.groups(positions.to - start) * COUNT);
      soften(query, span, into, at + query * record);
    }
    kernels.weigh(view, positions, into, at + 2 * COUNT);
  }

  /**
   * Positions within a split.
   *
   * @param base of the first score
   * @param from of the first that the query sees
   * @param to of the one after the last that the query sees
   * @param end of the scores, in whole vectors
   */
  private record Span(int base, int from, int to, int end) {}

  /** Scores become weights, relative to the largest; what the query does not see weighs 0. */
  private void soften(int query, Span span, float[] into, int at) {
    float[] scores = kernels.scores;
    int row = query * SCORES;
    int end = row + span.end;
    if (span.from >= span.to) {
      Arrays.fill(scores, row + span.base, end, 0);
      FloatVector.broadcast(FLOATS, LOWEST).intoArray(into, at);
      FloatVector.zero(FLOATS).intoArray(into, at + COUNT);
      return;
    }
    for (int i = row + span.base; softcap != 0 && i < end; i += COUNT) {
      VectorMath.softcap(FloatVector.fromArray(FLOATS, scores, i), softcap).intoArray(scores, i);
    }
    Arrays.fill(scores, row + span.base, row + span.from, LOWEST);
    Arrays.fill(scores, row + span.to, end, LOWEST);
    FloatVector largest = FloatVector.broadcast(FLOATS, LOWEST);
    for (int i = row + span.base; i < end; i += COUNT) {
      largest = largest.max(FloatVector.fromArray(FLOATS, scores, i));
    }
    float max = largest.reduceLanes(VectorOperators.MAX);
    FloatVector sums = FloatVector.zero(FLOATS);
    for (int i = row + span.base; i < end; i += COUNT) {
      FloatVector weight = VectorMath.exp(FloatVector.fromArray(FLOATS, scores, i).sub(max));
      weight.intoArray(scores, i);
      sums = sums.add(weight);
    }
    FloatVector.broadcast(FLOATS, max).intoArray(into, at);
    sums.intoArray(into, at + COUNT);
  }

  /** Before the first {@link #fold}. */
  void begin(int queries) {
    for (int at = 0; at < queries * record; at += record) {
      Arrays.fill(folded, at, at + COUNT, LOWEST);
      Arrays.fill(folded, at + COUNT, at + record, 0);
    }
  }

  /** Takes the next split's partial result. An empty one changes nothing, to the last bit. */
  void fold(int queries, float[] from, int start) {
    for (int query = 0; query < queries; query++) {
      int at = query * record;
      int part = start + at;
      FloatVector before = FloatVector.fromArray(FLOATS, folded, at);
      FloatVector then = FloatVector.fromArray(FLOATS, from, part);
      FloatVector max = before.max(then);
      FloatVector old = VectorMath.exp(before.sub(max));
      FloatVector fresh = VectorMath.exp(then.sub(max));
      max.intoArray(folded, at);
      for (int i = COUNT; i < record; i += COUNT) {
        FloatVector.fromArray(FLOATS, from, part + i)
            .fma(fresh, FloatVector.fromArray(FLOATS, folded, at + i).mul(old))
            .intoArray(folded, at + i);
      }
    }
  }

  /** Writes a query's output. */
  void output(int query, float[] into, int to) {
    int at = query * record + COUNT;
    float factor = 1 / VectorMath.sum(FloatVector.fromArray(FLOATS, folded, at));
    for (int i = COUNT; i < record - COUNT; i += COUNT) {
      FloatVector.fromArray(FLOATS, folded, at + i).mul(factor).intoArray(into, to + i - COUNT);
    }
  }
}
