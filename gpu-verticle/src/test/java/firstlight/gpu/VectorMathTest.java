package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

class VectorMathTest {
  private static final int SIZE = 32;

  private static float apply(UnaryOperator<FloatVector> function, float x) {
    return function.apply(FloatVector.broadcast(Lanes.FLOATS, x)).lane(Lanes.COUNT - 1);
  }

  private static void closeTo(
      UnaryOperator<FloatVector> function, DoubleUnaryOperator expected, double relative) {
    for (float x = -40; x < 40; x += 0.037f) {
      double right = expected.applyAsDouble(x);
      assertThat((double) apply(function, x))
          .as("at %s", x)
          .isCloseTo(right, within(Math.abs(right) * relative + 1e-12));
    }
  }

  @Test
  void the_exponential_is_good_to_a_few_units_in_the_last_place() {
    closeTo(VectorMath::exp, Math::exp, 4e-7);
  }

  @Test
  void the_exponential_of_a_masked_score_is_nothing_and_never_infinite() {
    assertThat(apply(VectorMath::exp, Float.NEGATIVE_INFINITY)).isZero();
    assertThat(apply(VectorMath::exp, -88)).isZero();
    assertThat(apply(VectorMath::exp, 1000)).isFinite();
  }

  @Test
  void activations_are_their_formulas() {
    closeTo(VectorMath::silu, x -> x / (1 + Math.exp(-x)), 1e-6);
    closeTo(
        VectorMath::gelu,
        x -> x / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x))),
        2e-5);
    closeTo(x -> VectorMath.softcap(x, 30), x -> 30 * Math.tanh(x / 30), 2e-3);
  }

  @Test
  void a_sum_has_every_lane() {
    float[] lanes = new float[Lanes.COUNT];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = 1 << i;
    }
    assertThat(VectorMath.sum(FloatVector.fromArray(Lanes.FLOATS, lanes, 0)))
        .isEqualTo((1 << lanes.length) - 1);
  }

  @Test
  void a_norm_divides_by_the_root_mean_square() {
    float[] from = row(9, 3, 4);
    float[] into = new float[SIZE + 2];
    VectorMath.norm(new VectorMath.Part(from, 1), weights(1, 2), 0, new VectorMath.Part(into, 2));
    float root = (float) Math.sqrt(25.0 / SIZE);
    assertThat(into).startsWith(0, 0, 3 / root, 8 / root, 0);
  }

  @Test
  void a_row_is_added_as_it_is_or_normalised() {
    float[] one = row(9, 1, 1);
    float[] other = row(9, 3, 4);
    float[] into = new float[SIZE + 1];
    VectorMath.Part sum = new VectorMath.Part(into, 1);
    VectorMath.add(new VectorMath.Part(one, 1), new VectorMath.Part(other, 1), sum, SIZE);
    assertThat(into).startsWith(0, 4, 5, 0);
    VectorMath.addNormed(
        new VectorMath.Part(one, 1), new VectorMath.Part(other, 1), weights(1, 2), 0, sum);
    double root = Math.sqrt(25.0 / SIZE);
    assertThat(into[1]).isCloseTo((float) (1 + 3 / root), within(1e-6f));
    assertThat(into[2]).isCloseTo((float) (1 + 8 / root), within(1e-6f));
  }

  /** Numbers, then zeros: a row that begins at 1. */
  private static float[] row(float... numbers) {
    return Arrays.copyOf(numbers, SIZE + 1);
  }

  private static float[] weights(float... numbers) {
    return Arrays.copyOf(numbers, SIZE);
  }
}
