package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

class VectorMathTest {
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
  void a_norm_divides_by_the_root_mean_square() {
    float[] from = {9, 3, 4, 0, 0, 9};
    float[] into = new float[6];
    float[] weights = {1, 2, 1, 1};
    VectorMath.norm(new VectorMath.Part(from, 1), weights, 0, new VectorMath.Part(into, 2));
    assertThat(into).containsExactly(0, 0, 1.2f, 3.2f, 0, 0);
  }
}
