package firstlight.batcher;

import firstlight.protocol.TenantId;
import firstlight.protocol.Time;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * Fairness among tenants by tokens served, after Sheng et al., "Fairness in Serving Large Language
 * Models". Each tenant has a counter of the tokens that were computed for it, an output token
 * weighing as much as two of a prompt; the least served one is next. What a tenant has waiting
 * counts as if it were served, up to a few thousand tokens, so that who asks for little is before
 * who asks for much as long as neither is far behind the other. A tenant that comes back, or had
 * nothing waiting, is lifted to at most a few thousand tokens below where the service has got to:
 * so nobody saves up for a flood by being away or asking for little, and yet who asks for less than
 * its share now and then is served at once. Only what was served while somebody had to wait counts
 * for that: capacity that nobody else wanted is not held against who used it, else a flood would be
 * before all that were there when it began. Nor does anybody lose a debt by leaving for a moment,
 * since counters are remembered for a while.
 */
final class TenantShares {
  static final int OUTPUT_WEIGHT = 2;

  /** Most tokens that a tenant can have before others, for having asked for less than its share. */
  static final long BURST = 4_096;

  /** As long ago as this, a tenant that is away counts as one that may come at any time. */
  private static final long LATELY_NANOS = 10_000_000_000L;

  private final int rememberedMax;
  private final Map<TenantId, TenantShare> active = new LinkedHashMap<>();

  /** Tenants without live Sequences, the longest gone first. */
  private final Map<TenantId, TenantShare> away = new LinkedHashMap<>();

  private final Time time;

  /** Where the service has got to: what the last one that was served, or left last, had. */
  private long reached;

  /** What a tenant that comes has at least. */
  private long lift;

  /** Whether somebody has to wait. */
  private boolean crowded;

  /** The rank of the first of those that are there or were lately. */
  private long least;

  /** The rank of the last of those that are there. */
  private long most;

  /**
   * @param rememberedMax tenants without live Sequences whose counter is kept
   */
  TenantShares(int rememberedMax, Time time) {
    this.rememberedMax = rememberedMax;
    this.time = time;
  }

  /** The tenant has one live Sequence more. */
  TenantShare arrived(TenantId tenant) {
    lift();
    TenantShare share = active.get(tenant);
    if (share == null) {
      share = away.remove(tenant);
      share = share == null ? new TenantShare(tenant) : share;
      active.put(tenant, share);
    }
    if (share.waiting == 0) {
      share.served = Math.max(share.served, lift);
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
    lift();
    return Math.max(gone == null ? 0 : gone.served, lift);
  }

  /** One of its Sequences has ended. */
  void left(TenantShare share) {
    if (--share.live > 0) {
      return;
    }
    active.remove(share.tenant);
    if (active.isEmpty()) {
      reached = Math.max(reached, share.served);
    }
    share.leftNanos = time.nanos();
    away.put(share.tenant, share);
    if (away.size() > rememberedMax) {
      away.remove(away.keySet().iterator().next());
    }
  }

  private void lift() {
    reach(active.values().stream().mapToLong(share -> share.served).min().orElse(reached));
  }

  private void reach(long served) {
    reached = Math.max(reached, served);
    lift = Math.max(lift, crowded ? reached - BURST : reached);
  }

  /** The next tokens of a prompt are the tenant's, so many of them not counted before. */
  void serve(TenantShare share, int tokens) {
    reach(share.served);
    share.served += tokens;
  }

  /** Whether prompts had to wait that wanted to be in the last Step. */
  void crowded(boolean somebodyWaits) {
    crowded = somebodyWaits;
  }

  /** Sees who is ahead from now on. */
  void compare() {
    long since = time.nanos() - LATELY_NANOS;
    LongStream there = active.values().stream().mapToLong(TenantShare::rank);
    LongStream lately =
        away.values().stream()
            .filter(share -> share.leftNanos >= since)
            .mapToLong(TenantShare::rank);
    least = LongStream.concat(there, lately).min().orElse(0);
    most = active.values().stream().mapToLong(TenantShare::rank).max().orElse(0);
  }

  /** It was served so much more than another that this one may come, or wait, and be before it. */
  boolean ahead(TenantShare share) {
    return share.rank() - least > BURST / 2;
  }

  /** Whether any is behind another. */
  boolean apart() {
    return most - least > BURST / 2;
  }

  /** Another one that is there was served so much more, or wants so much more, than this one. */
  boolean behind(TenantShare share) {
    return most - share.rank() > BURST / 2;
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
