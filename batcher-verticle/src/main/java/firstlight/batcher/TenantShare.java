package firstlight.batcher;

import firstlight.protocol.TenantId;

/** One tenant's part in what was served; see {@link TenantShares}. */
final class TenantShare {
  final TenantId tenant;

  /** Tokens served, weighted; lifted when the tenant comes back. */
  long served;

  /** Its Sequences that have not ended. */
  int live;

  /** Those of them that wait, and their tokens. */
  int waiting;

  long waitingTokens;

  /** When the last of its Sequences has ended. */
  long leftNanos;

  TenantShare(TenantId tenant) {
    this.tenant = tenant;
  }

  /** The lowest is next. */
  long rank() {
    return rank(served, waitingTokens);
  }

  static long rank(long served, long waitingTokens) {
    return served + Math.min(TenantShares.BURST, waitingTokens);
  }
}
