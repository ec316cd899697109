package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

/** How far a kernel's numbers are from those of plain arithmetic with doubles. */
final class KernelDistance {
  private KernelDistance() {}

  /** The root of the mean square of the differences, by that of the expected numbers. */
  static double of(double[] actual, double[] expected) {
    assertThat(actual).hasSameSizeAs(expected);
    double difference = 0;
    double size = 0;
    for (int i = 0; i < actual.length; i++) {
      // A number that was never written is not a number, and stays one.
      difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
      size += expected[i] * expected[i];
    }
    return Math.sqrt(difference / size);
  }

  static void assertWithin(double tolerance, double[] actual, double[] expected, String what) {
    double distance = of(actual, expected);
    assertThat(distance <= tolerance)
        .as("%s: distance %.2e, tolerance %.2e", what, distance, tolerance)
        .isTrue();
  }

  static double[] flat(double[][] rows) {
    double[] flat = new double[rows.length * rows[0].length];
    for (int i = 0; i < flat.length; i++) {
      flat[i] = rows[i / rows[0].length][i % rows[0].length];
    }
    return flat;
  }
}
