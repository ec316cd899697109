package firstlight.batcher;

import firstlight.batcher.Sequence.State;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Sequences without Blocks. Bounded in Sequences and in tokens, as a whole and for each tenant,
 * except for those that were preempted or come from a lost replica: they were admitted already.
 */
final class WaitingQueue {
  private final int sequencesMax;
  private final int tokensMax;
  private final double tenantShare;
  private final Set<Sequence> queue = new LinkedHashSet<>();
  private long tokens;

  /**
   * @param tokensMax most tokens to be prefilled for all of them
   * @param tenantShare share of both that one tenant can take
   */
  WaitingQueue(int sequencesMax, int tokensMax, double tenantShare) {
    this.sequencesMax = sequencesMax;
    this.tokensMax = tokensMax;
    this.tenantShare = tenantShare;
  }

  /** Is there room for a Sequence with that many tokens? An empty queue takes any. */
  boolean hasRoomFor(int length) {
    return queue.isEmpty() || (queue.size() < sequencesMax && tokens + length <= tokensMax);
  }

  /** Has the tenant room for it? One that has nothing waiting always has. */
  boolean hasRoomFor(TenantShare tenant, int length) {
    return tenant.waiting == 0
        || (tenant.waiting + 1 <= tenantShare * sequencesMax
            && tenant.waitingTokens + length <= tenantShare * tokensMax);
  }

  void add(Sequence sequence) {
    if (queue.add(sequence)) {
      count(sequence, 1);
    }
  }

  void remove(Sequence sequence) {
    if (queue.remove(sequence)) {
      count(sequence, -1);
    }
  }

  private void count(Sequence sequence, int sign) {
    tokens += (long) sign * sequence.length();
    sequence.share().waiting += sign;
    sequence.share().waitingTokens += (long) sign * sequence.length();
  }

  /** All of them; not to be changed meanwhile. */
  Iterable<Sequence> all() {
    return queue;
  }

  int size() {
    return queue.size();
  }

  long tokens() {
    return tokens;
  }

  /**
   * @throws IllegalStateException when one does not belong here, or tokens are miscounted
   */
  void checkInvariants() {
    long sum = 0;
    Map<TenantShare, Long> tenants = new HashMap<>();
    for (Sequence sequence : queue) {
      tenants.merge(sequence.share(), (long) sequence.length(), Long::sum);
      if (sequence.state() != State.WAITING
          || sequence.table().size() > 0
          || sequence.computed() > 0) {
        throw new IllegalStateException("a waiting Sequence has Blocks, or does not wait");
      }
      sum += sequence.length();
    }
    if (sum != tokens || tenants.entrySet().stream().anyMatch(WaitingQueue::miscounted)) {
      throw new IllegalStateException("waiting tokens are miscounted");
    }
  }

  private static boolean miscounted(Map.Entry<TenantShare, Long> tenant) {
    return tenant.getKey().waitingTokens != tenant.getValue();
  }
}
