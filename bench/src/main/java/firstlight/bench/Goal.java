package firstlight.bench;

import java.util.Locale;

/** What a figure must reach. */
sealed interface Goal {

  /** Our figure divided by the peer's. */
  record RatioAtLeast(double limit) implements Goal {}

  /** Our figure divided by the peer's. */
  record RatioAtMost(double limit) implements Goal {}

  /** Our figure itself. */
  record AtLeast(double limit) implements Goal {}

  /** Our figure itself. */
  record AtMost(double limit) implements Goal {}

  /**
   * @param ours our figure
   * @param ratio to the peer's; NaN where there is no peer
   */
  default boolean isReached(double ours, double ratio) {
    return switch (this) {
      case RatioAtLeast(double limit) -> ratio >= limit;
      case RatioAtMost(double limit) -> ratio <= limit;
      case AtLeast(double limit) -> ours >= limit;
      case AtMost(double limit) -> ours <= limit;
    };
  }

  /** For a table: {@code ratio ≥ 2.2}. */
  default String text() {
    return switch (this) {
      case RatioAtLeast(double limit) -> "ratio ≥ " + number(limit);
      case RatioAtMost(double limit) -> "ratio ≤ " + number(limit);
      case AtLeast(double limit) -> "≥ " + number(limit);
      case AtMost(double limit) -> "≤ " + number(limit);
    };
  }

  private static String number(double limit) {
    return String.format(Locale.ROOT, limit < 1 ? "%.2f" : "%.4g", limit)
        .replaceFirst("(\\.\\d*?)0+$", "$1")
        .replaceFirst("\\.$", "");
  }
}
