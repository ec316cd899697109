package firstlight.batcher;

/** What Steps will look like while prompts wait. */
final class StepPrediction {
  private static final double NEWEST = 0.05;

  private final StepCost cost;
  private final double targetNanos;
  private final int stepTokensMax;
  private final int floor;
  private final double longShare;

  /** How many decode in a Step that holds prompts too, lately. */
  private double decodes;

  private double recentNanos;

  /**
   * @param prefill prompt tokens in it
   * @param nanos how long it takes
   */
  record Step(int prefill, double nanos) {}

  StepPrediction(
      StepCost cost, double targetNanos, int stepTokensMax, int floor, double longShare) {
    this.cost = cost;
    this.targetNanos = targetNanos;
    this.stepTokensMax = stepTokensMax;
    this.floor = floor;
    this.longShare = longShare;
  }

  /** A Step took so long. */
  void note(StepLoad load, long took) {
    recentNanos = recentNanos == 0 ? took : recentNanos + NEWEST * (took - recentNanos);
    if (load.prefill() > 0) {
      decodes += NEWEST * (load.decodes() - decodes);
    }
  }

  /** How long Steps take lately: so often a Sequence that decodes gets a token. */
  double recentNanos() {
    return recentNanos;
  }

  double longShare() {
    return longShare;
  }

  /**
   * A Step that is full of prompts.
   *
   * @param decoding Sequences that decode now
   */
  Step busy(int decoding) {
    int beside = (int) Math.ceil(Math.max(decoding, decodes));
    int room = Math.max(1, stepTokensMax - beside);
    if (beside > 0) {
      double left = targetNanos - cost.nanos(new StepLoad(0, beside, 0));
      double tokens = left / Math.max(1, cost.promptTokenNanos(0));
      room = (int) Math.clamp(tokens, Math.min(floor, room), room);
    }
    return new Step(room, Math.max(1, cost.nanos(new StepLoad(room, beside, 0))));
  }
}
