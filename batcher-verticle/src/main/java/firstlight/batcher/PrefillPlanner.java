package firstlight.batcher;

import firstlight.batcher.Sequence.State;
import firstlight.protocol.Priority;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the prompts whose tokens go into a Step, beside the Sequences that decode.
 *
 * <p>Of those that prefill and those that wait the next one is: of the priority whose turn it is;
 * one that was preempted; one of the tenant that was served the least; the one that arrived first.
 * When the next one waits and has no room, nobody that waits overtakes it.
 *
 * <p>A Sequence sits a Step out when another one computes in it what it needs next: {@link
 * PrefixSharing}.
 *
 * <p>Long prompts are a lane of their own. While others want to prefill too they get their share of
 * the Step's prompt tokens and no more; both lanes take what the other leaves.
 */
final class PrefillPlanner {
  private static final Comparator<Sequence> ORDER =
      Comparator.comparing((Sequence sequence) -> !sequence.preempted())
          .thenComparingLong(sequence -> sequence.share().served)
          .thenComparingLong(Sequence::arrival);

  private final RunningSet running;
  private final WaitingQueue waiting;
  private final BlockGrants grants;
  private final StepBudget budget;
  private final PrefixSharing sharing;
  private final int chunkMax;
  private final double longShare;
  private final PriorityTurns shortTurns = new PriorityTurns();
  private final PriorityTurns longTurns = new PriorityTurns();

  /** What long prompts have not yet got of their share, below one token. */
  private double longRest;

  /**
   * @param chunkMax tokens of one prompt in one Step
   */
  PrefillPlanner(
      RunningSet running,
      WaitingQueue waiting,
      BlockGrants grants,
      StepBudget budget,
      PrefixSharing sharing,
      int chunkMax,
      double longShare) {
    this.running = running;
    this.waiting = waiting;
    this.grants = grants;
    this.budget = budget;
    this.sharing = sharing;
    this.chunkMax = chunkMax;
    this.longShare = longShare;
  }

  void plan(StepDraft draft) {
    sharing.clear();
    int room = Math.min(draft.left(), budget.left(0));
    if (next(true, true) == null || next(false, true) == null) {
      fill(draft, false, room);
      fill(draft, true, budget.longMax(0));
      return;
    }
    longRest += longShare * room;
    int kept = Math.min(room, Math.min((int) longRest, budget.longMax(0)));
    longRest -= (int) longRest;
    fill(draft, false, room - kept);
    fill(draft, true, budget.longMax(0));
    fill(draft, false, room);
  }

  /** Adds chunks of one lane. */
  private void fill(StepDraft draft, boolean longLane, int tokensMax) {
    int left = tokensMax;
    boolean open = true;
    while (left > 0 && draft.left() > 0) {
      Sequence next = next(longLane, open);
      if (next != null && sharing.sitsOut(next)) {
        continue;
      }
      if (next == null || budget.left(next.computed()) <= 0) {
        return;
      }
      if (next.state() == State.WAITING && !grants.begin(next)) {
        open = false;
      } else {
        int most = Math.min(draft.left(), Math.min(left, budget.left(next.computed())));
        int tokens = Math.min(next.missing(), Math.min(most, chunkMax));
        if (tokens <= 0) {
          return;
        }
        add(draft, next, tokens, longLane, open);
        left -= tokens;
      }
    }
  }

  private void add(StepDraft draft, Sequence sequence, int tokens, boolean longLane, boolean open) {
    turns(longLane).served(sequence.priority(), tokens, best(longLane, open).keySet());
    int start = sequence.computed();
    sequence.share().served += sequence.charge(start + tokens);
    budget.add(tokens, start, false);
    draft.add(sequence, tokens);
    sharing.computes(sequence);
  }

  /**
   * Whose turn it is in a lane.
   *
   * @param open whether those that wait may begin
   */
  private @Nullable Sequence next(boolean longLane, boolean open) {
    Map<Priority, Sequence> best = best(longLane, open);
    return best.isEmpty() ? null : best.get(turns(longLane).next(best.keySet()));
  }

  private PriorityTurns turns(boolean longLane) {
    return longLane ? longTurns : shortTurns;
  }

  /** The first of each priority. */
  private Map<Priority, Sequence> best(boolean longLane, boolean open) {
    Map<Priority, Sequence> best = new EnumMap<>(Priority.class);
    for (Sequence sequence : running.all()) {
      if (sequence.longPrompt() == longLane
          && sequence.runnable()
          && sequence.missing() > 1
          && !sequence.inFlight()
          && !sharing.isOut(sequence)) {
        best.merge(sequence.priority(), sequence, PrefillPlanner::first);
      }
    }
    if (open) {
      for (Sequence sequence : waiting.all()) {
        if (sequence.longPrompt() == longLane && sequence.runnable() && !sharing.isOut(sequence)) {
          best.merge(sequence.priority(), sequence, PrefillPlanner::first);
        }
      }
    }
    return best;
  }

  private static Sequence first(Sequence one, Sequence other) {
    return ORDER.compare(one, other) <= 0 ? one : other;
  }
}
