package firstlight.bench;

import java.util.List;
import java.util.Locale;

/** What several rounds measured of one figure. */
record Spread(double median, double min, double max) {

  /**
   * @throws IllegalArgumentException nothing was measured
   */
  static Spread of(List<Double> values) {
    Sample sample = Sample.of(values);
    return new Spread(sample.median(), sample.percentile(0), sample.percentile(100));
  }

  /** Three significant digits: {@code 181 (170 … 190)}. */
  String text() {
    return "%s (%s … %s)".formatted(digits(median), digits(min), digits(max));
  }

  static String digits(double value) {
    double size = Math.abs(value);
    String format = size >= 100 || size == 0 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, size < 1 && size > 0 ? "%.3f" : format, value);
  }
}
