package firstlight.batcher;

/**
 * How long the device takes for a Step, learned from those it has run: so much for each token of a
 * prompt, for each Sequence that decodes, for each position looked back at, and for the Step
 * itself. None of them is ever negative.
 *
 * <p>Weighted least squares of the relative error, in which a Step counts the less the longer ago
 * it was. What the latest Steps say nothing about stays as it was. A Step that took much longer
 * than expected counts as a slow one, but not as more than that: a machine that hiccups does not
 * look like a slow device, and one that has become slow does after a few Steps.
 */
final class StepCost {
  /** Steps before the figures mean something. */
  private static final int KNOWN_AFTER = 8;

  private static final int GUESSED_AFTER = 2;
  private static final double KEPT = 0.96;
  private static final double SURPRISE_MAX = 3;
  private static final double INERTIA = 1e-3;
  private static final int SWEEPS = 8;
  private static final int TERMS = 4;
  private static final int PREFILL = 0;
  private static final int DECODE = 1;
  private static final int ATTENDED = 2;
  private static final int STEP = 3;

  private final double[][] products = new double[TERMS][TERMS];
  private final double[] sums = new double[TERMS];
  private final double[] nanos = new double[TERMS];
  private int seen;

  /** Enough Steps were seen to tell. */
  boolean known() {
    return seen >= KNOWN_AFTER;
  }

  /** There is a first idea. */
  boolean guessed() {
    return seen >= GUESSED_AFTER;
  }

  /** A Step like this took so long. */
  void learn(StepLoad load, long took) {
    double time = Math.max(1, took);
    double scale = time;
    if (known()) {
      scale = Math.max(1, nanos(load));
      time = Math.min(time, SURPRISE_MAX * scale);
    }
    double[] terms = {load.prefill(), load.decodes(), load.attended(), 1};
    double weight = 1 / (scale * scale);
    for (int i = 0; i < TERMS; i++) {
      for (int j = 0; j < TERMS; j++) {
        products[i][j] = KEPT * products[i][j] + weight * terms[i] * terms[j];
      }
      sums[i] = KEPT * sums[i] + weight * terms[i] * time;
    }
    seen++;
    solve();
  }

  /** One term after the other, none below 0; few sweeps suffice, since each begins at the last. */
  private void solve() {
    double[] before = nanos.clone();
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
      for (int i = 0; i < TERMS; i++) {
        double own = products[i][i];
        if (own < 1e-30) {
          continue;
        }
        double rest = sums[i];
        for (int j = 0; j < TERMS; j++) {
          rest -= i == j ? 0 : products[i][j] * nanos[j];
        }
        nanos[i] = Math.max(0, (rest + INERTIA * own * before[i]) / (own * (1 + INERTIA)));
      }
    }
  }

  /** How long such a Step will take; 0 as long as nothing is known. */
  double nanos(StepLoad load) {
    return nanos[PREFILL] * load.prefill()
        + nanos[DECODE] * load.decodes()
        + nanos[ATTENDED] * load.attended()
        + nanos[STEP];
  }

  /** What one token more of a prompt costs at that position. */
  double promptTokenNanos(int position) {
    return nanos[PREFILL] + nanos[ATTENDED] * position;
  }
}
