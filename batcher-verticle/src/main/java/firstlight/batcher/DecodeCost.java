package firstlight.batcher;

/**
 * What a token more costs a Step that only decodes: a straight line through the Steps seen lately,
 * the newest counting most. Its slope can only be told from Steps of different sizes; until there
 * were some a token is taken to cost half of a Step that has one.
 */
final class DecodeCost {
  private static final double MEMORY = 0.98;

  /** Sizes that vary less tell nothing. */
  private static final double VARIANCE_MIN = 0.05;

  private static final double FIRST_SHARE = 0.5;

  private double weight;
  private double tokens;
  private double nanos;
  private double tokensSquared;
  private double product;
  private double slope = Double.NaN;

  void note(int stepTokens, long stepNanos) {
    weight = weight * MEMORY + 1;
    tokens = tokens * MEMORY + stepTokens;
    nanos = nanos * MEMORY + stepNanos;
    tokensSquared = tokensSquared * MEMORY + (double) stepTokens * stepTokens;
    product = product * MEMORY + (double) stepTokens * stepNanos;
    double variance = tokensSquared / weight - meanTokens() * meanTokens();
    if (variance > VARIANCE_MIN) {
      slope = (product / weight - meanTokens() * meanNanos()) / variance;
    }
  }

  private double meanTokens() {
    return tokens / weight;
  }

  private double meanNanos() {
    return nanos / weight;
  }

  /** Of one token more; never more than the average, which would make an empty Step a gain. */
  double tokenNanos() {
    if (weight == 0) {
      return FIRST_SHARE;
    }
    double average = meanNanos() / meanTokens();
    return Double.isNaN(slope) ? FIRST_SHARE * average : Math.clamp(slope, 0, average);
  }

  /** Of a Step with so many. */
  double stepNanos(int stepTokens) {
    return weight == 0
        ? 1 + (stepTokens - 1) * FIRST_SHARE
        : Math.max(1, meanNanos() + (stepTokens - meanTokens()) * tokenNanos());
  }
}
