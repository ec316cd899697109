package firstlight.batcher;

import firstlight.protocol.Time;

/**
 * All Blocks of a device, each in exactly one of three states:
 *
 * <ul>
 *   <li><b>held</b> by one or more Sequences, counted;
 *   <li><b>cached</b>: held by nobody, but the prefix index knows what is in it;
 *   <li><b>free</b>: its content means nothing.
 * </ul>
 *
 * Free ones are taken first; then the cached one that {@link CachedBlocks} says.
 */
final class BlockPool {
  private final PrefixIndex index;
  private final int[] holders;
  private final int[] free;
  private int freeCount;
  private final CachedBlocks cached;

  BlockPool(int blocks, PrefixIndex index, Retention retention, Time time) {
    this.cached = new CachedBlocks(blocks, retention, time);
    this.index = index;
    this.holders = new int[blocks];
    this.free = new int[blocks];
    for (int block = blocks - 1; block >= 0; block--) {
      free[freeCount++] = block;
    }
  }

  /**
   * A Block to write into, held once.
   *
   * @throws IllegalStateException when none is {@link #available()}
   */
  int take() {
    int block = freeCount > 0 ? free[--freeCount] : evict();
    holders[block] = 1;
    return block;
  }

  private int evict() {
    if (cached.size() == 0) {
      throw new IllegalStateException("no Block is available");
    }
    int block = cached.evict();
    index.forget(block);
    return block;
  }

  /** One Sequence more uses a Block that is held or cached. */
  void hold(int block) {
    if (holders[block] == 0 && !cached.remove(block)) {
      throw new IllegalStateException("a free Block has nothing worth holding");
    }
    holders[block]++;
  }

  /** The known Block is worth keeping once nobody holds it; so must be those that it builds on. */
  void keep(int block) {
    if (holders[block] == 0 || !index.knows(block)) {
      throw new IllegalStateException("only a Block that is held and known can be kept");
    }
    cached.keep(block);
  }

  /** One Sequence less uses the Block. */
  void release(int block) {
    if (holders[block] == 0) {
      throw new IllegalStateException("Block " + block + " is given back twice");
    }
    if (--holders[block] > 0) {
      return;
    }
    if (index.knows(block)) {
      cached.add(block, index.tenant(block));
    } else {
      free[freeCount++] = block;
    }
  }

  /** Blocks that {@link #take()} can give. */
  int available() {
    return freeCount + cached.size();
  }

  int held() {
    return size() - available();
  }

  int cached() {
    return cached.size();
  }

  boolean isCached(int block) {
    return cached.contains(block);
  }

  int size() {
    return holders.length;
  }

  /** How many Sequences hold the Block. */
  int holders(int block) {
    return holders[block];
  }

  /**
   * @throws IllegalStateException unless free + held + cached = all, each Block being one of them
   */
  void checkInvariants() {
    int held = 0;
    boolean[] seen = new boolean[size()];
    for (int i = 0; i < freeCount; i++) {
      check(holders[free[i]] == 0 && !index.knows(free[i]), "a free Block is in use");
      check(!seen[free[i]], "a Block is free twice");
      seen[free[i]] = true;
    }
    for (int block = 0; block < size(); block++) {
      if (cached.contains(block)) {
        check(holders[block] == 0 && index.knows(block), "a cached Block is held or unknown");
        check(!seen[block], "a Block is free and cached");
      }
    }
    cached.checkInvariants();
    for (int count : holders) {
      held += count > 0 ? 1 : 0;
    }
    check(freeCount + cached.size() + held == size(), "Blocks are lost");
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new IllegalStateException(message);
    }
  }
}
