package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

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
   * The sum of the lanes, first to last. The API's own reduction may add in any order, and does so
   * differently once compiled.
   *
   * @param scratch room for one vector
   */
  static float sum(FloatVector vector, float[] scratch) {
    vector.intoArray(scratch, 0);
    float sum = scratch[0];
    for (int i = 1; i < COUNT; i++) {
      sum += scratch[i];
    }
    return sum;
  }

  /** Floats somewhere in a buffer. */
  record Part(float[] values, int at) {}

  /**
   * Divides by the root mean square and multiplies by the weights, as many numbers as there are
   * weights. {@code into} may be {@code from}.
   */
  static void norm(Part from, float[] weights, float epsilon, Part into) {
    int size = weights.length;
    double squares = 0;
    for (int i = 0; i < size; i++) {
      double x = from.values[from.at + i];
      squares += x * x;
    }
    float factor = (float) (1 / Math.sqrt(squares / size + epsilon));
    for (int i = 0; i < size; i++) {
      into.values[into.at + i] = from.values[from.at + i] * factor * weights[i];
    }
  }

  static void add(Part from, Part into, int size) {
    for (int i = 0; i < size; i++) {
      into.values[into.at + i] += from.values[from.at + i];
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
