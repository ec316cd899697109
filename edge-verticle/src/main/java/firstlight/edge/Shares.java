package firstlight.edge;

import firstlight.edge.EventDraft.Importance;

/** How much of a limit each importance may fill: the last part is for what matters most. */
final class Shares {
  private static final int FACT_PERCENT = 80;
  private static final int USAGE_PERCENT = 95;

  private Shares() {}

  /** Whether so much may be used when the last of it is of that importance. */
  static boolean allow(Importance importance, long used, long limit) {
    return used <= of(importance, limit);
  }

  private static long of(Importance importance, long limit) {
    return switch (importance) {
      case FACT -> limit * FACT_PERCENT / 100;
      case USAGE -> limit * USAGE_PERCENT / 100;
      case FEEDBACK -> limit;
    };
  }
}
