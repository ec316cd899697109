package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * One query against the keys and values of its Sequence, read through the block table. One thread's
 * own, since it keeps scores.
 *
 * <p>Scores of neighbouring positions are lanes of a vector, aligned to the beginning of the
 * Sequence; so what is added to what depends on positions only, not on Blocks or chunks.
 */
final class Attention {
  /** Vectors of scores, or of an output, that are worked on at once. */
  private static final int ABREAST = 4;

  private final KvMemory memory;
  private final int headSize;
  private final float scale;
  private final float softcap;
  private final float[] scores;
  private final float[] scratch = new float[COUNT];
  private final int[] vectors = new int[ABREAST];

  /**
   * @param positions the longest Sequence
   * @param scale factor on products of query and key
   * @param softcap 0: none
   */
  Attention(KvMemory memory, int headSize, int positions, float scale, float softcap) {
    this.memory = memory;
    this.headSize = headSize;
    this.scale = scale;
    this.softcap = softcap;
    this.scores = new float[positions + (ABREAST + 1) * COUNT];
  }

  /**
   * What a query sees.
   *
   * @param blocks the Sequence's block table
   * @param from first position, and {@code to} the one after the last: the query's own
   */
  record View(int layer, int kvHead, int[] blocks, int from, int to) {}

  /** Writes the values, weighted by how well their keys fit the query. */
  void attend(View view, float[] query, int at, float[] into, int to) {
    // Scores begin at a whole vector, so that lanes do not depend on where the window begins.
    int base = view.from / COUNT * COUNT;
    score(view, base, query, at);
    soften(view, base);
    weigh(view, base, into, to);
  }

  private void score(View view, int base, float[] query, int at) {
    float[] keys = memory.keys(view.layer);
    for (int position = base; position < view.to; position += ABREAST * COUNT) {
      for (int i = 0; i < ABREAST; i++) {
        // Past the end the last vector is scored again; nobody reads that.
        vectors[i] = vectorAt(view, Math.min(position + i * COUNT, (view.to - 1) / COUNT * COUNT));
      }
      scoreFour(keys, query, at, position - base);
    }
  }

  /** Where the keys of as many positions as a vector has lanes begin. */
  private int vectorAt(View view, int position) {
    int tokens = memory.blockTokens();
    return memory.at(view.blocks[position / tokens], view.kvHead) + position % tokens;
  }

  private void scoreFour(float[] keys, float[] query, int at, int to) {
    int step = memory.blockTokens();
    int k0 = vectors[0];
    int k1 = vectors[1];
    int k2 = vectors[2];
    int k3 = vectors[3];
    FloatVector s0 = FloatVector.zero(FLOATS);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    int offset = 0;
    for (int i = 0; i < headSize; i++) {
      FloatVector q = FloatVector.broadcast(FLOATS, query[at + i]);
      s0 = FloatVector.fromArray(FLOATS, keys, k0 + offset).fma(q, s0);
      s1 = FloatVector.fromArray(FLOATS, keys, k1 + offset).fma(q, s1);
      s2 = FloatVector.fromArray(FLOATS, keys, k2 + offset).fma(q, s2);
      s3 = FloatVector.fromArray(FLOATS, keys, k3 + offset).fma(q, s3);
      offset += step;
    }
    scaled(s0).intoArray(scores, to);
    scaled(s1).intoArray(scores, to + COUNT);
    scaled(s2).intoArray(scores, to + 2 * COUNT);
    scaled(s3).intoArray(scores, to + 3 * COUNT);
  }

  private FloatVector scaled(FloatVector score) {
    FloatVector scaled = score.mul(scale);
    return softcap == 0 ? scaled : VectorMath.softcap(scaled, softcap);
  }

  /** Softmax; positions that the query does not see, and the rest of the last vector, get 0. */
  private void soften(View view, int base) {
    int count = view.to - base;
    for (int i = 0; i < view.from - base; i++) {
      scores[i] = Float.NEGATIVE_INFINITY;
    }
    int end = (count + COUNT - 1) / COUNT * COUNT;
    for (int i = count; i < end; i++) {
      scores[i] = Float.NEGATIVE_INFINITY;
    }
    FloatVector most = FloatVector.fromArray(FLOATS, scores, 0);
    for (int i = COUNT; i < end; i += COUNT) {
      most = most.max(FloatVector.fromArray(FLOATS, scores, i));
    }
    float max = most.reduceLanes(VectorOperators.MAX);
    FloatVector sums = FloatVector.zero(FLOATS);
    for (int i = 0; i < end; i += COUNT) {
      FloatVector weight = VectorMath.exp(FloatVector.fromArray(FLOATS, scores, i).sub(max));
      weight.intoArray(scores, i);
      sums = sums.add(weight);
    }
    float factor = 1 / VectorMath.sum(sums, scratch);
    for (int i = 0; i < end; i += COUNT) {
      FloatVector.fromArray(FLOATS, scores, i).mul(factor).intoArray(scores, i);
    }
  }

  private void weigh(View view, int base, float[] into, int to) {
    int element = 0;
    for (; element + ABREAST * COUNT <= headSize; element += ABREAST * COUNT) {
      weighFour(view, base, element, into, to + element);
    }
    for (; element < headSize; element += COUNT) {
      weighOne(view, base, element, into, to + element);
    }
  }

  private void weighFour(View view, int base, int element, float[] into, int to) {
    float[] values = memory.values(view.layer);
    int tokens = memory.blockTokens();
    FloatVector s0 = FloatVector.zero(FLOATS);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int position = view.from; position < view.to; ) {
      int end = Math.min(view.to, position / tokens * tokens + tokens);
      int part = memory.at(view.blocks[position / tokens], view.kvHead);
      int at = part + position % tokens * headSize + element;
      for (; position < end; position++) {
        FloatVector weight = FloatVector.broadcast(FLOATS, scores[position - base]);
        s0 = FloatVector.fromArray(FLOATS, values, at).fma(weight, s0);
        s1 = FloatVector.fromArray(FLOATS, values, at + COUNT).fma(weight, s1);
        s2 = FloatVector.fromArray(FLOATS, values, at + 2 * COUNT).fma(weight, s2);
        s3 = FloatVector.fromArray(FLOATS, values, at + 3 * COUNT).fma(weight, s3);
        at += headSize;
      }
    }
    s0.intoArray(into, to);
    s1.intoArray(into, to + COUNT);
    s2.intoArray(into, to + 2 * COUNT);
    s3.intoArray(into, to + 3 * COUNT);
  }

  private void weighOne(View view, int base, int element, float[] into, int to) {
    float[] values = memory.values(view.layer);
    int tokens = memory.blockTokens();
    FloatVector sum = FloatVector.zero(FLOATS);
    for (int position = view.from; position < view.to; position++) {
      int part = memory.at(view.blocks[position / tokens], view.kvHead);
      int at = part + position % tokens * headSize + element;
      FloatVector weight = FloatVector.broadcast(FLOATS, scores[position - base]);
      sum = FloatVector.fromArray(FLOATS, values, at).fma(weight, sum);
    }
    sum.intoArray(into, to);
  }
}
