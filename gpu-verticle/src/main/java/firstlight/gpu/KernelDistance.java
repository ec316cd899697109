package firstlight.gpu;

/** How far a kernel's numbers are from those of plain arithmetic with doubles. */
final class KernelDistance {
  private KernelDistance() {}

  /** The root of the mean square of the differences, by that of the expected numbers. */
  static double of(double[] actual, double[] expected) {
    if (actual.length != expected.length) {
      throw new IllegalArgumentException(
          "%d numbers where %d are expected".formatted(actual.length, expected.length));
    }
    double difference = 0;
    double size = 0;
    for (int i = 0; i < actual.length; i++) {
      // A number that was never written is not a number, and stays one.
      difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
      size += expected[i] * expected[i];
    }
    return Math.sqrt(difference / size);
  }

  static double[] flat(double[][] rows) {
    double[] flat = new double[rows.length * rows[0].length];
    for (int i = 0; i < flat.length; i++) {
      flat[i] = rows[i / rows[0].length][i % rows[0].length];
    }
    return flat;
  }
}
