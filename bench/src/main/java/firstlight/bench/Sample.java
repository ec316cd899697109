package firstlight.bench;

import java.util.Arrays;
import java.util.Collection;

/** Measured values, ascending. */
final class Sample {
  private final double[] ascending;

  private Sample(double[] ascending) {
    this.ascending = ascending;
  }

  /**
   * @throws IllegalArgumentException nothing was measured
   */
  static Sample of(Collection<Double> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("nothing was measured");
    }
    double[] ascending = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(ascending);
    return new Sample(ascending);
  }

  /**
   * The smallest value that at least so many percent of all do not exceed.
   *
   * @param percent from 0 to 100
   */
  double percentile(double percent) {
    int rank = (int) Math.ceil(percent / 100 * ascending.length);
    return ascending[Math.clamp(rank - 1, 0, ascending.length - 1)];
  }

  /** The middle value, or the mean of the two in the middle. */
  double median() {
    int middle = ascending.length / 2;
    return ascending.length % 2 == 1
        ? ascending[middle]
        : (ascending[middle - 1] + ascending[middle]) / 2;
  }
}
