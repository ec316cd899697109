package firstlight.batcher;

/**
 * How many tokens of prompts a Step may hold beside Sequences that decode, so that these get their
 * next token in time. Without any of them, and as long as costs are unknown, only the Step's size
 * is the limit. There is always room for a few, so that prompts get on whatever the load.
 */
final class StepBudget {
  /** A long prompt makes a Step with others' next tokens at most that much longer. */
  private static final double LONG_SLOWDOWN = 1.6;

  /**
   * A short Step takes that many times what it would take without prompts, if the target allows:
   * shorter ones would mostly be what a Step costs anyway.
   */
  private static final double WORTHWHILE = 2;

  private final StepCost cost;
  private final double targetNanos;
  private final int floor;
  private StepLoad load = StepLoad.NOTHING;

  /**
   * @param targetNanos how long a Step with decoding Sequences should take at most
   * @param floor prompt tokens that always have room
   */
  StepBudget(StepCost cost, double targetNanos, int floor) {
    this.cost = cost;
    this.targetNanos = targetNanos;
    this.floor = floor;
  }

  /** A new Step begins. */
  void clear() {
    load = StepLoad.NOTHING;
  }

  void add(int tokens, int start, boolean decode) {
    load = load.plus(tokens, start, decode);
  }

  StepLoad load() {
    return load;
  }

  /**
   * Most prompt tokens that may be added.
   *
   * @param start position of the first of them
   * @param part of the time of a Step that they may fill it to, or a little more where it would
   *     hold hardly any; 2: twice as long
   */
  int left(int start, double part) {
    if (load.decodes() == 0 || !cost.known()) {
      return Integer.MAX_VALUE;
    }
    double worthwhile = Math.min(targetNanos, WORTHWHILE * withoutPrompts());
    double time = Math.max(part * targetNanos, worthwhile);
    double tokens = (time - cost.nanos(load)) / tokenNanos(start);
    return (int) Math.clamp(tokens, Math.max(0, floor - load.prefill()), Integer.MAX_VALUE);
  }

  /**
   * Most tokens of long prompts that a Step may hold.
   *
   * @param start position of the first of them
   */
  int longMax(int start) {
    if (load.decodes() == 0 || !cost.known()) {
      return Integer.MAX_VALUE;
    }
    return (int) Math.max(floor, (LONG_SLOWDOWN - 1) * withoutPrompts() / tokenNanos(start));
  }

  private double withoutPrompts() {
    return cost.nanos(new StepLoad(0, load.decodes(), 0));
  }

  private double tokenNanos(int start) {
    return Math.max(1, cost.promptTokenNanos(start));
  }
}
