package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import java.util.Arrays;
import jdk.incubator.vector.FloatVector;

/**
 * The products of {@link Attention}: queries with keys, and weights with values. Four queries, a
 * quad, are taken at once. A single quad, as decoding has, reads keys and values where they are;
 * for more of them they are first brought near, as floats, in runs of a few positions. Either way
 * each number is the same sum in the same order: over the elements of a head, or the positions.
 *
 * <p>Calls between vector operations are written out: the compiler stops inlining own methods in
 * long ones, and then every vector becomes an object.
 */
final class AttentionKernels {
  /** Queries that are taken at once; those that are not there give numbers nobody reads. */
  static final int QUAD = 4;

  /** Floats between the scores of two queries; the last pair of vectors may be one too many. */
  static final int SCORES = Attention.SPLIT + COUNT;

  /** Positions whose keys or values are brought near together. */
  private static final int NEAR = 2 * COUNT;

  /** {@code [query][position in the split]}: scores, which become weights. */
  final float[] scores = new float[Attention.QUERIES * SCORES];

  private final KvMemory memory;
  private final int headSize;

  /** Floats between two queries' outputs. */
  private final int record;

  /** {@code [quad][element][4]}. */
  private final float[] queries;

  /**
   * Keys as {@code [element][2 vectors of positions]}, or values as {@code [position][element]}.
   */
  private final float[] near;

  AttentionKernels(KvMemory memory, int headSize) {
    this.memory = memory;
    this.headSize = headSize;
    this.record = Attention.record(headSize);
    this.queries = new float[Attention.QUERIES * headSize];
    this.near = new float[NEAR * headSize];
  }

  void query(int number, float[] head, int at, float scale) {
    int to = number / QUAD * QUAD * headSize + number % QUAD;
    for (int i = 0; i < headSize; i++) {
      queries[to + i * QUAD] = head[at + i] * scale;
    }
  }

  /**
   * Scores all queries against some positions, and those before them in the first one's vector: so
   * lanes do not depend on where a window begins.
   */
  void score(Attention.View view, Attention.Positions positions) {
    int to = positions.to();
    for (int position = positions.base(); position < to; position += NEAR) {
      // Past the end the last vector is scored again.
      int next = Math.min(position + COUNT, (to - 1) / COUNT * COUNT);
      if (view.quads() == 1) {
        scoreThere(keys(view, position), keys(view, next), position - positions.start());
      } else {
        memory.loadKeys(keys(view, position), near, 0, NEAR);
        memory.loadKeys(keys(view, next), near, COUNT, NEAR);
        for (int quad = 0; quad < view.quads(); quad++) {
          scoreNear(quad, position - positions.start());
        }
      }
    }
  }

  /** Where the keys of as many positions as a vector has lanes begin. */
  private long keys(Attention.View view, int position) {
    return view.part(position, memory) + position % memory.blockTokens();
  }

  /** Where a position's value begins. */
  private long value(Attention.View view, int position) {
    long inBlock = position % memory.blockTokens();
    return memory.values(view.part(position, memory)) + inBlock * headSize;
  }

  /** One quad against two vectors of positions. */
  private void scoreThere(long first, long second, int to) {
    final KvMemory keys = memory;
    final int step = memory.blockTokens();
    long k0 = first;
    long k1 = second;
    final float[] q = queries;
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s10 = s00;
    FloatVector s11 = s00;
    FloatVector s20 = s00;
    FloatVector s21 = s00;
    FloatVector s30 = s00;
    FloatVector s31 = s00;
    int end = QUAD * headSize;
    for (int i = 0; i < end; i += QUAD) {
      FloatVector w0 = keys.load(k0);
      FloatVector w1 = keys.load(k1);
      FloatVector v = FloatVector.broadcast(FLOATS, q[i]);
      s00 = w0.fma(v, s00);
      s01 = w1.fma(v, s01);
      v = FloatVector.broadcast(FLOATS, q[i + 1]);
      s10 = w0.fma(v, s10);
      s11 = w1.fma(v, s11);
      v = FloatVector.broadcast(FLOATS, q[i + 2]);
      s20 = w0.fma(v, s20);
      s21 = w1.fma(v, s21);
      v = FloatVector.broadcast(FLOATS, q[i + 3]);
      s30 = w0.fma(v, s30);
      s31 = w1.fma(v, s31);
      k0 += step;
      k1 += step;
    }
    s00.intoArray(scores, to);
    s01.intoArray(scores, to + COUNT);
    s10.intoArray(scores, to + SCORES);
    s11.intoArray(scores, to + SCORES + COUNT);
    s20.intoArray(scores, to + 2 * SCORES);
    s21.intoArray(scores, to + 2 * SCORES + COUNT);
    s30.intoArray(scores, to + 3 * SCORES);
    s31.intoArray(scores, to + 3 * SCORES + COUNT);
  }

  /** One quad against what was brought near. */
  private void scoreNear(int quad, int to) {
    final float[] keys = near;
    final float[] q = queries;
    int k = 0;
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s10 = s00;
    FloatVector s11 = s00;
    FloatVector s20 = s00;
    FloatVector s21 = s00;
    FloatVector s30 = s00;
    FloatVector s31 = s00;
    int end = (quad + 1) * QUAD * headSize;
    for (int i = quad * QUAD * headSize; i < end; i += QUAD) {
      FloatVector w0 = FloatVector.fromArray(FLOATS, keys, k);
      FloatVector w1 = FloatVector.fromArray(FLOATS, keys, k + COUNT);
      FloatVector v = FloatVector.broadcast(FLOATS, q[i]);
      s00 = w0.fma(v, s00);
      s01 = w1.fma(v, s01);
      v = FloatVector.broadcast(FLOATS, q[i + 1]);
      s10 = w0.fma(v, s10);
      s11 = w1.fma(v, s11);
      v = FloatVector.broadcast(FLOATS, q[i + 2]);
      s20 = w0.fma(v, s20);
      s21 = w1.fma(v, s21);
      v = FloatVector.broadcast(FLOATS, q[i + 3]);
      s30 = w0.fma(v, s30);
      s31 = w1.fma(v, s31);
      k += NEAR;
    }
    int at = quad * QUAD * SCORES + to;
    s00.intoArray(scores, at);
    s01.intoArray(scores, at + COUNT);
    s10.intoArray(scores, at + SCORES);
    s11.intoArray(scores, at + SCORES + COUNT);
    s20.intoArray(scores, at + 2 * SCORES);
    s21.intoArray(scores, at + 2 * SCORES + COUNT);
    s30.intoArray(scores, at + 3 * SCORES);
    s31.intoArray(scores, at + 3 * SCORES + COUNT);
  }

  /**
   * Sums up the values of some positions, weighted.
   *
   * @param at where the first query's output goes
   */
  void weigh(Attention.View view, Attention.Positions positions, float[] into, int at) {
    for (int query = 0; query < view.quads() * QUAD; query++) {
      Arrays.fill(into, at + query * record, at + query * record + headSize, 0);
    }
    int tokens = memory.blockTokens();
    for (int position = positions.from(); position < positions.to(); ) {
      int count = Math.min(positions.to() - position, tokens - position % tokens);
      if (view.quads() > 1) {
        count = Math.min(count, NEAR);
        memory.loadValues(value(view, position), count * headSize, near);
      }
      weigh(view, position, count, position - positions.start(), into, at);
      position += count;
    }
  }

  private void weigh(
      Attention.View view, int position, int count, int weight, float[] into, int at) {
    for (int element = 0; element < headSize; element += 2 * COUNT) {
      if (view.quads() == 1) {
        weighThere(value(view, position) + element, weight, count, into, at + element);
      } else {
        for (int quad = 0; quad < view.quads(); quad++) {
          int to = at + quad * QUAD * record;
          weighNear(element, weight + quad * QUAD * SCORES, count, into, to);
        }
      }
    }
  }

  /** Adds two vectors of elements of a run of positions to a quad's outputs. */
  private void weighThere(long from, int first, int count, float[] into, int r0) {
    final KvMemory values = memory;
    final float[] weights = scores;
    final int r1 = r0 + record;
    final int r2 = r1 + record;
    final int r3 = r2 + record;
    FloatVector s00 = FloatVector.fromArray(FLOATS, into, r0);
    FloatVector s01 = FloatVector.fromArray(FLOATS, into, r0 + COUNT);
    FloatVector s10 = FloatVector.fromArray(FLOATS, into, r1);
    FloatVector s11 = FloatVector.fromArray(FLOATS, into, r1 + COUNT);
    FloatVector s20 = FloatVector.fromArray(FLOATS, into, r2);
    FloatVector s21 = FloatVector.fromArray(FLOATS, into, r2 + COUNT);
    FloatVector s30 = FloatVector.fromArray(FLOATS, into, r3);
    FloatVector s31 = FloatVector.fromArray(FLOATS, into, r3 + COUNT);
    long v = from;
    for (int w = first; w < first + count; w++) {
      FloatVector v0 = values.load(v);
      FloatVector v1 = values.load(v + COUNT);
      FloatVector weight = FloatVector.broadcast(FLOATS, weights[w]);
      s00 = v0.fma(weight, s00);
      s01 = v1.fma(weight, s01);
      weight = FloatVector.broadcast(FLOATS, weights[w + SCORES]);
      s10 = v0.fma(weight, s10);
      s11 = v1.fma(weight, s11);
      weight = FloatVector.broadcast(FLOATS, weights[w + 2 * SCORES]);
      s20 = v0.fma(weight, s20);
      s21 = v1.fma(weight, s21);
      weight = FloatVector.broadcast(FLOATS, weights[w + 3 * SCORES]);
      s30 = v0.fma(weight, s30);
      s31 = v1.fma(weight, s31);
      v += headSize;
    }
    s00.intoArray(into, r0);
    s01.intoArray(into, r0 + COUNT);
    s10.intoArray(into, r1);
    s11.intoArray(into, r1 + COUNT);
    s20.intoArray(into, r2);
    s21.intoArray(into, r2 + COUNT);
    s30.intoArray(into, r3);
    s31.intoArray(into, r3 + COUNT);
  }

  private void weighNear(int element, int first, int count, float[] into, int at) {
    final float[] values = near;
    final float[] weights = scores;
    final int r0 = at + element;
    final int r1 = r0 + record;
    final int r2 = r1 + record;
    final int r3 = r2 + record;
    FloatVector s00 = FloatVector.fromArray(FLOATS, into, r0);
    FloatVector s01 = FloatVector.fromArray(FLOATS, into, r0 + COUNT);
    FloatVector s10 = FloatVector.fromArray(FLOATS, into, r1);
    FloatVector s11 = FloatVector.fromArray(FLOATS, into, r1 + COUNT);
    FloatVector s20 = FloatVector.fromArray(FLOATS, into, r2);
    FloatVector s21 = FloatVector.fromArray(FLOATS, into, r2 + COUNT);
    FloatVector s30 = FloatVector.fromArray(FLOATS, into, r3);
    FloatVector s31 = FloatVector.fromArray(FLOATS, into, r3 + COUNT);
    int v = element;
    for (int w = first; w < first + count; w++) {
      FloatVector v0 = FloatVector.fromArray(FLOATS, values, v);
      FloatVector v1 = FloatVector.fromArray(FLOATS, values, v + COUNT);
      FloatVector weight = FloatVector.broadcast(FLOATS, weights[w]);
      s00 = v0.fma(weight, s00);
      s01 = v1.fma(weight, s01);
      weight = FloatVector.broadcast(FLOATS, weights[w + SCORES]);
      s10 = v0.fma(weight, s10);
      s11 = v1.fma(weight, s11);
      weight = FloatVector.broadcast(FLOATS, weights[w + 2 * SCORES]);
      s20 = v0.fma(weight, s20);
      s21 = v1.fma(weight, s21);
      weight = FloatVector.broadcast(FLOATS, weights[w + 3 * SCORES]);
      s30 = v0.fma(weight, s30);
      s31 = v1.fma(weight, s31);
      v += headSize;
    }
    s00.intoArray(into, r0);
    s01.intoArray(into, r0 + COUNT);
    s10.intoArray(into, r1);
    s11.intoArray(into, r1 + COUNT);
    s20.intoArray(into, r2);
    s21.intoArray(into, r2 + COUNT);
    s30.intoArray(into, r3);
    s31.intoArray(into, r3 + COUNT);
  }
}
