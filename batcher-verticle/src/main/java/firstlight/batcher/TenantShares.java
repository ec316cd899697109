package firstlight.batcher;

import firstlight.protocol.TenantId;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Fairness among tenants by tokens served, after Sheng et al., "Fairness in Serving Large Language
 * Models". Each tenant has a counter of the tokens that were computed for it, an output token
 * weighing as much as two of a prompt; the least served one is next. A tenant that comes back is
 * lifted to the least served one there is, so nobody saves up for a flood by being away; nor does
 * anybody lose a debt by leaving for a moment, since counters are remembered for a while.
 */
final class TenantShares {
  static final int OUTPUT_WEIGHT = 2;

  private final int rememberedMax;
  private final Map<TenantId, TenantShare> active = new LinkedHashMap<>();

  /** Tenants without live Sequences, the longest gone first. */
  private final Map<TenantId, TenantShare> away = new LinkedHashMap<>();

  /** What the last tenant had when nobody was left: where all begin again. */
  private long floor;

  /**
   * @param rememberedMax tenants without live Sequences whose counter is kept
   */
  TenantShares(int rememberedMax) {
    this.rememberedMax = rememberedMax;
  }

  /** The tenant has one live Sequence more. */
  TenantShare arrived(TenantId tenant) {
    TenantShare share = active.get(tenant);
    if (share == null) {
      share = away.remove(tenant);
      share = share == null ? new TenantShare(tenant) : share;
      share.served = Math.max(share.served, least());
      active.put(tenant, share);
    }
    share.live++;
    return share;
  }

  /** The counter a tenant would have if it came now. */
  long servedOnArrival(TenantId tenant) {
    TenantShare share = active.get(tenant);
    if (share != null) {
      return share.served;
    }
    TenantShare gone = away.get(tenant);
    return Math.max(gone == null ? 0 : gone.served, least());
  }

  /** One of its Sequences has ended. */
  void left(TenantShare share) {
    if (--share.live > 0) {
      return;
    }
    active.remove(share.tenant);
    if (active.isEmpty()) {
      floor = Math.max(floor, share.served);
    }
    away.put(share.tenant, share);
    if (away.size() > rememberedMax) {
      away.remove(away.keySet().iterator().next());
    }
  }

  private long least() {
    return active.values().stream().mapToLong(share -> share.served).min().orElse(floor);
  }

  /** How many tenants have live Sequences. */
  int active() {
    return active.size();
  }

  /**
   * @param live every Sequence that has not ended
   * @throws IllegalStateException when a tenant's books are wrong
   */
  void checkInvariants(Iterable<Sequence> live) {
    Map<TenantId, Integer> counts = new LinkedHashMap<>();
    live.forEach(sequence -> counts.merge(sequence.spec().tenant(), 1, Integer::sum));
    boolean right =
        counts.keySet().equals(active.keySet())
            && active.values().stream().allMatch(share -> counts.get(share.tenant) == share.live);
    if (!right || away.size() > rememberedMax) {
      throw new IllegalStateException("Sequences of tenants are miscounted");
    }
    if (away.keySet().stream().anyMatch(active::containsKey)) {
      throw new IllegalStateException("a tenant is there and away");
    }
  }
}
