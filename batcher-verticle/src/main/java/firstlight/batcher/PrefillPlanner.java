package firstlight.batcher;

import firstlight.batcher.Sequence.State;

/**
 * Chooses the prompts whose tokens go into a Step, beside the Sequences that decode.
 *
 * <p>Those that prefill and those that wait are served in the order of {@link PrefillLane}. When
 * the next one waits and has no room, nobody that waits overtakes it.
 *
 * <p>A tenant that is ahead of others gets short Steps, so that these need not wait for a long one
 * to end; and nothing of a Step that is already as long as that because of others' prompts. One
 * that is behind gets longer ones, so that its own first token comes as if it were alone.
 *
 * <p>A Sequence sits a Step out when another one computes in it what it needs next: {@link
 * PrefixSharing}.
 *
 * <p>Long prompts are a lane of their own. While others want to prefill too they get their share of
 * the Step's prompt tokens and no more; both lanes take what the other leaves.
 */
final class PrefillPlanner {
  /** Share of the time of a Step for prompts of a tenant that is ahead of others. */
  private static final double AHEAD = 0.4;

  /** The same for a tenant that is behind another, whose next tokens can wait a little. */
  private static final double BEHIND = 3;

  private final RunningSet running;
  private final WaitingQueue waiting;
  private final TenantShares tenants;
  private final BlockGrants grants;
  private final StepBudget budget;
  private final PrefixSharing sharing;
  private final int chunkMax;
  private final double longShare;
  private final PrefillLane shorts = new PrefillLane();
  private final PrefillLane longs = new PrefillLane();

  /** What long prompts have not yet got of their share, below one token. */
  private double longRest;

  /**
   * @param chunkMax tokens of one prompt in one Step
   */
  PrefillPlanner(
      RunningSet running,
      WaitingQueue waiting,
      TenantShares tenants,
      BlockGrants grants,
      StepBudget budget,
      PrefixSharing sharing,
      int chunkMax,
      double longShare) {
    this.running = running;
    this.waiting = waiting;
    this.tenants = tenants;
    this.grants = grants;
    this.budget = budget;
    this.sharing = sharing;
    this.chunkMax = chunkMax;
    this.longShare = longShare;
  }

  void plan(StepDraft draft) {
    sharing.clear();
    tenants.compare();
    gather();
    fill(draft);
    tenants.crowded(waiting.size() > 0 || !shorts.isEmpty() || !longs.isEmpty());
  }

  private void fill(StepDraft draft) {
    int room = Math.min(draft.left(), budget.left(0, tenants.apart() ? BEHIND : 1));
    if (shorts.isEmpty() || longs.isEmpty()) {
      fill(draft, shorts, room);
      fill(draft, longs, budget.longMax(0));
      return;
    }
    longRest += longShare * room;
    int kept = Math.min(room, Math.min((int) longRest, budget.longMax(0)));
    longRest -= (int) longRest;
    fill(draft, shorts, room - kept);
    fill(draft, longs, budget.longMax(0));
    fill(draft, shorts, room);
  }

  private void gather() {
    shorts.clear();
    longs.clear();
    for (Sequence sequence : running.all()) {
      if (sequence.runnable() && sequence.missing() > 1 && !sequence.inFlight()) {
        lane(sequence).add(sequence);
      }
    }
    for (Sequence sequence : waiting.all()) {
      if (sequence.runnable()) {
        lane(sequence).add(sequence);
      }
    }
  }

  private PrefillLane lane(Sequence sequence) {
    return sequence.longPrompt() ? longs : shorts;
  }

  /** Most tokens of it that the Step's time allows. */
  private int left(Sequence sequence) {
    TenantShare share = sequence.share();
    double part = tenants.ahead(share) ? AHEAD : tenants.behind(share) ? BEHIND : 1;
    return budget.left(sequence.computed(), part);
  }

  /** Adds chunks of one lane. */
  private void fill(StepDraft draft, PrefillLane lane, int tokensMax) {
    int left = tokensMax;
    while (left > 0 && draft.left() > 0) {
      Sequence next = lane.first();
      if (next != null && sharing.sitsOut(next)) {
        lane.remove(next);
        continue;
      }
      if (next == null || left(next) <= 0) {
        return;
      }
      if (next.state() == State.WAITING && !grants.begin(next)) {
        lane.close();
      } else {
        int most = Math.min(draft.left(), Math.min(left, left(next)));
        int tokens = Math.min(next.missing(), Math.min(most, chunkMax));
        if (tokens <= 0) {
          return;
        }
        add(draft, next, tokens, lane);
        left -= tokens;
      }
    }
  }

  private void add(StepDraft draft, Sequence sequence, int tokens, PrefillLane lane) {
    lane.served(sequence, tokens);
    lane.remove(sequence);
    int start = sequence.computed();
    tenants.serve(sequence.share(), sequence.charge(start + tokens));
    budget.add(tokens, start, false);
    draft.add(sequence, tokens);
    sharing.computes(sequence);
  }
}
