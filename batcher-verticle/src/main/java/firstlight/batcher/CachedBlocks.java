package firstlight.batcher;

import firstlight.protocol.TenantId;
import firstlight.protocol.Time;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeMap;

/**
 * Known Blocks that nobody holds, in the order in which they are given up: the one unused for
 * longest first, but those that a Session's next turn is expected to ask for after all others.
 *
 * <p>Such a Block is <b>kept</b> for a time after its last use, and its tenant may have a share of
 * all Blocks kept. When the time is over, or when the tenant has more, the oldest of them becomes
 * like any other, as old as it is. Being kept never takes a Block from a Sequence that needs one.
 *
 * <p>A Block is kept only together with those it builds on, and is given back before them. So in
 * every order here it stands before them, and none is given up before those that build on it.
 */
final class CachedBlocks {
  private final int keptMax;
  private final long keptNanos;
  private final Time time;
  private final TenantId[] tenants;
  private final boolean[] worthKeeping;

  /** Counts what is given back, from 1; 0: not here. */
  private final long[] order;

  private final long[] since;
  private final TreeMap<Long, Integer> plain = new TreeMap<>();
  private final LinkedHashSet<Integer> kept = new LinkedHashSet<>();
  private final Map<TenantId, LinkedHashSet<Integer>> keptOf = new HashMap<>();
  private long count;

  CachedBlocks(int blocks, Retention retention, Time time) {
    this.keptMax = (int) (retention.keptShare() * blocks);
    this.keptNanos = retention.keptFor().toNanos();
    this.time = time;
    this.tenants = new TenantId[blocks];
    this.worthKeeping = new boolean[blocks];
    this.order = new long[blocks];
    this.since = new long[blocks];
  }

  /** From its next return on the Block is kept; so must be those that it builds on. */
  void keep(int block) {
    worthKeeping[block] = keptMax > 0;
  }

  /** Nobody holds the Block any more. */
  void add(int block, TenantId tenant) {
    tenants[block] = tenant;
    order[block] = ++count;
    since[block] = time.nanos();
    if (!worthKeeping[block]) {
      plain.put(order[block], block);
      return;
    }
    kept.add(block);
    LinkedHashSet<Integer> own = keptOf.computeIfAbsent(tenant, _ -> new LinkedHashSet<>());
    own.add(block);
    if (own.size() > keptMax) {
      unkeep(own.getFirst());
    }
  }

  /** It is like any other now, with the age it has. */
  private void unkeep(int block) {
    takeFromKept(block);
    worthKeeping[block] = false;
    plain.put(order[block], block);
  }

  private void takeFromKept(int block) {
    kept.remove(block);
    LinkedHashSet<Integer> own = keptOf.getOrDefault(tenants[block], kept);
    own.remove(block);
    if (own.isEmpty()) {
      keptOf.remove(tenants[block]);
    }
  }

  /**
   * Somebody holds the Block again.
   *
   * @return false when it was not here
   */
  boolean remove(int block) {
    if (order[block] == 0) {
      return false;
    }
    if (plain.remove(order[block]) == null) {
      takeFromKept(block);
    }
    order[block] = 0;
    return true;
  }

  /** Takes out the Block that is the least worth; there must be one. */
  int evict() {
    while (!kept.isEmpty() && time.nanos() - since[kept.getFirst()] >= keptNanos) {
      unkeep(kept.getFirst());
    }
    int block = plain.isEmpty() ? kept.getFirst() : plain.firstEntry().getValue();
    remove(block);
    worthKeeping[block] = false;
    return block;
  }

  boolean contains(int block) {
    return order[block] > 0;
  }

  int size() {
    return plain.size() + kept.size();
  }

  /** Blocks kept for a tenant, also those whose time is over. */
  int keptFor(TenantId tenant) {
    LinkedHashSet<Integer> own = keptOf.get(tenant);
    return own == null ? 0 : own.size();
  }

  /**
   * @throws IllegalStateException when the books do not agree
   */
  void checkInvariants() {
    int here = 0;
    for (int block = 0; block < order.length; block++) {
      if (order[block] > 0) {
        here++;
        boolean isKept = kept.contains(block);
        check(isKept == worthKeeping[block], "a Block is kept that is not worth it, or not kept");
        check(isKept != plain.containsKey(order[block]), "a Block stands in two orders or none");
      }
    }
    check(here == size(), "cached Blocks are miscounted");
    int ofTenants = 0;
    for (LinkedHashSet<Integer> own : keptOf.values()) {
      check(!own.isEmpty() && own.size() <= keptMax, "a tenant has too many Blocks kept, or none");
      ofTenants += own.size();
    }
    check(ofTenants == kept.size(), "kept Blocks are miscounted");
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new IllegalStateException(message);
    }
  }
}
