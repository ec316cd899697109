package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/**
 * Arithmetic on rows of floats. Only operations that IEEE 754 defines to the last bit are used, so
 * that interpreted and compiled code agree.
 */
final class VectorMath {
  /** Below this e to the x is taken as 0, which masked scores rely on. */
  private static final float EXP_MIN = -87f;

  private static final float EXP_MAX = 88f;
  private static final float LOG2_E = 1.4426950408889634f;
  // The natural logarithm of 2 as a short number and the rest, so that the product is exact.
  private static final float LN2_HIGH = 0.693359375f;
  private static final float LN2_LOW = -2.12194440e-4f;
  private static final float ROUNDING = 12582912f;
  private static final int ROUNDING_BITS = Float.floatToRawIntBits(ROUNDING);
  private static final int EXPONENT_SHIFT = 23;
  private static final float GELU_INNER = 0.044715f;
  private static final float GELU_OUTER = 0.7978845608028654f;

  private static final VectorShuffle<Float> BY_8 = VectorShuffle.iota(FLOATS, 8, 1, true);
  private static final VectorShuffle<Float> BY_4 = VectorShuffle.iota(FLOATS, 4, 1, true);
  private static final VectorShuffle<Float> BY_2 = VectorShuffle.iota(FLOATS, 2, 1, true);
  private static final VectorShuffle<Float> BY_1 = VectorShuffle.iota(FLOATS, 1, 1, true);

  private VectorMath() {}

  /** e to the x, to about one unit in the last place; Taylor's polynomial after range reduction. */
  static FloatVector exp(FloatVector x) {
    FloatVector bounded = x.max(EXP_MIN).min(EXP_MAX);
    FloatVector shifted = bounded.mul(LOG2_E).add(ROUNDING);
    FloatVector n = shifted.sub(ROUNDING);
    FloatVector r = n.fma(FloatVector.broadcast(FLOATS, -LN2_HIGH), bounded).sub(n.mul(LN2_LOW));
    FloatVector p = FloatVector.broadcast(FLOATS, 1f / 5040);
    p = p.fma(r, FloatVector.broadcast(FLOATS, 1f / 720));
    p = p.fma(r, FloatVector.broadcast(FLOATS, 1f / 120));
    p = p.fma(r, FloatVector.broadcast(FLOATS, 1f / 24));
    p = p.fma(r, FloatVector.broadcast(FLOATS, 1f / 6));
    p = p.fma(r, FloatVector.broadcast(FLOATS, 0.5f));
    p = p.fma(r, FloatVector.broadcast(FLOATS, 1f));
    p = p.fma(r, FloatVector.broadcast(FLOATS, 1f));
    IntVector power =
        shifted
            .reinterpretAsInts()
            .sub(ROUNDING_BITS)
            .lanewise(VectorOperators.LSHL, EXPONENT_SHIFT);
    FloatVector result = p.reinterpretAsInts().add(power).reinterpretAsFloats();
    return result.blend(0f, x.lt(EXP_MIN));
  }

  /**
   * The sum of the lanes: of halves, of their halves, and so on. The API's own reduction may add in
   * any order, and does so differently once compiled.
   */
  static float sum(FloatVector vector) {
    FloatVector sum = vector;
    if (COUNT > 8) {
      sum = sum.add(sum.rearrange(BY_8));
    }
    if (COUNT > 4) {
      sum = sum.add(sum.rearrange(BY_4));
    }
    sum = sum.add(sum.rearrange(BY_2));
    return sum.add(sum.rearrange(BY_1)).lane(0);
  }

  /** Floats somewhere in a buffer. */
  record Part(float[] values, int at) {}

  /**
   * What brings the root mean square to 1.
   *
   * @param size a multiple of 32
   */
  private static float factor(Part part, int size, float epsilon) {
    float[] values = part.values;
    int end = part.at + size;
    FloatVector even = FloatVector.zero(FLOATS);
    FloatVector odd = even;
    for (int i = part.at; i < end; i += 2 * COUNT) {
      FloatVector x = FloatVector.fromArray(FLOATS, values, i);
      even = x.fma(x, even);
      x = FloatVector.fromArray(FLOATS, values, i + COUNT);
      odd = x.fma(x, odd);
    }
    return (float) (1 / Math.sqrt(sum(even.add(odd)) / size + epsilon));
  }

  /**
   * Divides by the root mean square and multiplies by the weights, as many numbers as there are
   * weights: a multiple of 32. {@code into} may be {@code from}.
   */
  static void norm(Part from, float[] weights, float epsilon, Part into) {
    float factor = factor(from, weights.length, epsilon);
    for (int i = 0; i < weights.length; i += COUNT) {
      FloatVector.fromArray(FLOATS, from.values, from.at + i)
          .mul(factor)
          .mul(FloatVector.fromArray(FLOATS, weights, i))
          .intoArray(into.values, into.at + i);
    }
  }

  /**
   * Adds two rows.
   *
   * @param size a multiple of 32
   */
  static void add(Part one, Part other, Part into, int size) {
    for (int i = 0; i < size; i += COUNT) {
      FloatVector.fromArray(FLOATS, one.values, one.at + i)
          .add(FloatVector.fromArray(FLOATS, other.values, other.at + i))
          .intoArray(into.values, into.at + i);
    }
  }

  /** Adds {@code other}, normalised as {@link #norm} does, to {@code one}. */
  static void addNormed(Part one, Part other, float[] weights, float epsilon, Part into) {
    float factor = factor(other, weights.length, epsilon);
    for (int i = 0; i < weights.length; i += COUNT) {
      FloatVector.fromArray(FLOATS, other.values, other.at + i)
          .mul(factor)
          .fma(
              FloatVector.fromArray(FLOATS, weights, i),
              FloatVector.fromArray(FLOATS, one.values, one.at + i))
          .intoArray(into.values, into.at + i);
    }
  }

  /** x / (1 + e^-x). */
  static FloatVector silu(FloatVector x) {
    return x.div(exp(x.neg()).add(1f));
  }

  /** The hyperbolic tangent approximation of x Φ(x), as Gemma was trained with. */
  static FloatVector gelu(FloatVector x) {
    FloatVector inner = x.mul(x).mul(GELU_INNER).add(1f).mul(x).mul(2 * GELU_OUTER);
    return x.div(exp(inner.neg()).add(1f));
  }

  /** c tanh(x / c), which keeps x within ±c. */
  static FloatVector softcap(FloatVector x, float cap) {
    FloatVector e = exp(x.mul(2 / cap));
    return e.sub(1f).div(e.add(1f)).mul(cap);
  }
}
