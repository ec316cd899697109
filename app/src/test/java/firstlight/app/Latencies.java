package firstlight.app;

import java.util.Arrays;

/** What streams measured in one phase: microseconds to first tokens, and between tokens. */
final class Latencies {
  private final Growing first = new Growing();
  private final Growing between = new Growing();

  /**
   * @param micros from the request to its first token
   */
  void first(long micros) {
    first.add(micros);
  }

  /**
   * @param micros from one token to the next
   */
  void between(long micros) {
    between.add(micros);
  }

  int streams() {
    return first.size();
  }

  int tokens() {
    return between.size();
  }

  double firstMillis(double quantile) {
    return first.quantile(quantile) / 1_000.0;
  }

  double betweenMillis(double quantile) {
    return between.quantile(quantile) / 1_000.0;
  }

  /** How many times as long as in the other one. */
  Ratios over(Latencies calm) {
    return new Ratios(
        first.quantile(0.5) / calm.first.quantile(0.5),
        first.quantile(0.99) / calm.first.quantile(0.99),
        between.quantile(0.5) / calm.between.quantile(0.5),
        between.quantile(0.99) / calm.between.quantile(0.99));
  }

  /** Of medians and 99th percentiles. */
  record Ratios(double firstMedian, double firstP99, double betweenMedian, double betweenP99) {}

  private static final class Growing {
    private int[] values = new int[1 << 12];
    private int size;

    synchronized void add(long value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, 2 * size);
      }
      values[size++] = (int) Math.min(Integer.MAX_VALUE, value);
    }

    synchronized int size() {
      return size;
    }

    synchronized double quantile(double quantile) {
      if (size == 0) {
        return Double.NaN;
      }
      int[] sorted = Arrays.copyOf(values, size);
      Arrays.sort(sorted);
      return sorted[(int) Math.min(size - 1L, Math.round(quantile * (size - 1)))];
    }
  }
}
