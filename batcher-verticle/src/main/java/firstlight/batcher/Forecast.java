package firstlight.batcher;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * When a Sequence that comes now will have its first token: plays through, prompt by prompt, what
 * is before it in the order of {@link PrefillPlanner}, at the rates of {@link StepCost}, waiting
 * where Blocks or places must become free first.
 */
final class Forecast {
  private static final Comparator<Sequence> ARRIVAL =
      Comparator.comparing((Sequence sequence) -> !sequence.preempted())
          .thenComparingLong(Sequence::arrival);

  private final StepCost cost;
  private final RunningSet running;
  private final WaitingQueue waiting;
  private final BlockGrants grants;
  private final OutputLengths outputs;
  private final StepPrediction steps;

  /** A Sequence that will end, and give its Blocks back. */
  private record Ending(double nanos, int blocks) {}

  Forecast(
      StepCost cost,
      RunningSet running,
      WaitingQueue waiting,
      BlockGrants grants,
      OutputLengths outputs,
      StepPrediction steps) {
    this.cost = cost;
    this.running = running;
    this.waiting = waiting;
    this.grants = grants;
    this.outputs = outputs;
    this.steps = steps;
  }

  /**
   * Nanoseconds until its first token; 0 as long as costs are unknown.
   *
   * @param fresh tokens of it that are not in the prefix cache
   */
  double firstToken(Sequence sequence, int fresh) {
    if (!cost.guessed()) {
      return 0;
    }
    StepPrediction.Step step = steps.busy(decoding());
    double rate = rate(sequence.longPrompt(), step);
    PriorityQueue<Ending> endings = new PriorityQueue<>(Comparator.comparingDouble(Ending::nanos));
    double now = begun(sequence.longPrompt(), rate, endings);
    int places = running.max() - running.size();
    int blocks = grants.unreserved();
    for (Sequence next : before(sequence)) {
      int need = grants.need(next);
      while ((places < 1 || blocks < need) && !endings.isEmpty()) {
        Ending ending = endings.remove();
        now = Math.max(now, ending.nanos);
        blocks += ending.blocks;
        places++;
      }
      places--;
      blocks -= need;
      now += (next == sequence ? fresh : next.toCompute()) / rate;
      endings.add(new Ending(now + left(next) * steps.recentNanos(), need));
    }
    return now + step.nanos();
  }

  /** Whether there is nobody that runs or waits. */
  boolean idle() {
    return running.size() == 0 && waiting.size() == 0;
  }

  /** Prompt tokens per nanosecond when only prompts wait; without end as long as it is unknown. */
  double rateAlone() {
    StepPrediction.Step step = steps.busy(decoding());
    return cost.guessed() ? step.prefill() / step.nanos() : Double.POSITIVE_INFINITY;
  }

  private int decoding() {
    return (int) running.all().stream().filter(sequence -> sequence.missing() <= 1).count();
  }

  /** Prompt tokens per nanosecond in a lane, when the other one may want some too. */
  private double rate(boolean longPrompt, StepPrediction.Step step) {
    boolean both = wanted(false) && (longPrompt || wanted(true));
    double share = longPrompt ? steps.longShare() : 1 - steps.longShare();
    return step.prefill() / step.nanos() * (both ? share : 1);
  }

  private boolean wanted(boolean longPrompt) {
    for (Sequence sequence : running.all()) {
      if (sequence.longPrompt() == longPrompt && sequence.missing() > 1) {
        return true;
      }
    }
    for (Sequence sequence : waiting.all()) {
      if (sequence.longPrompt() == longPrompt) {
        return true;
      }
    }
    return false;
  }

  /** Those that run: their prompts come first, and they end some time. */
  private double begun(boolean longPrompt, double rate, PriorityQueue<Ending> endings) {
    double now = 0;
    for (Sequence sequence : running.all()) {
      double prompt = sequence.missing() > 1 ? sequence.missing() / rate : 0;
      now += sequence.longPrompt() == longPrompt ? prompt : 0;
      double end = now + left(sequence) * steps.recentNanos();
      endings.add(new Ending(end, grants.need(sequence)));
    }
    return now;
  }

  /** Output tokens it still has to get, on average: no less than a part when it is late. */
  private double left(Sequence sequence) {
    int mean = outputs.mean(sequence.spec().tenant(), sequence.spec().outputMax());
    double most = sequence.outstandingOutput();
    return Math.min(most, Math.max(mean - sequence.output(), mean / 4.0));
  }

  /** Those of its lane that are served before it, in order, and itself. */
  private List<Sequence> before(Sequence sequence) {
    List<Sequence> order = new ArrayList<>();
    Map<TenantShare, PriorityQueue<Sequence>> tenants = new HashMap<>();
    for (Sequence other : waiting.all()) {
      if (other.longPrompt() != sequence.longPrompt() || !other.runnable()) {
        continue;
      }
      int urgent = other.priority().compareTo(sequence.priority());
      if (urgent > 0 || (urgent == 0 && other.preempted())) {
        order.add(other);
      } else if (urgent == 0) {
        tenants.computeIfAbsent(other.share(), _ -> new PriorityQueue<>(ARRIVAL)).add(other);
      }
    }
    tenants.computeIfAbsent(sequence.share(), _ -> new PriorityQueue<>(ARRIVAL)).add(sequence);
    takeTurns(tenants, sequence, order);
    return order;
  }

  private record Turn(TenantShare tenant, long served, long waiting) {
    long rank() {
      return TenantShare.rank(served, waiting);
    }

    Turn after(Sequence next) {
      return new Turn(tenant, served + next.toCompute(), Math.max(0, waiting - next.length()));
    }
  }

  /** The tenant of the lowest rank first, as each is served more and more. */
  private static void takeTurns(
      Map<TenantShare, PriorityQueue<Sequence>> tenants, Sequence last, List<Sequence> order) {
    PriorityQueue<Turn> turns = new PriorityQueue<>(Comparator.comparingLong(Turn::rank));
    for (TenantShare tenant : tenants.keySet()) {
      int more = tenant == last.share() ? last.length() : 0;
      turns.add(new Turn(tenant, tenant.served, tenant.waitingTokens + more));
    }
    while (!turns.isEmpty()) {
      Turn turn = turns.remove();
      Sequence next = tenants.get(turn.tenant).remove();
      order.add(next);
      if (next == last) {
        return;
      }
      if (!tenants.get(turn.tenant).isEmpty()) {
        turns.add(turn.after(next));
      }
    }
  }
}
