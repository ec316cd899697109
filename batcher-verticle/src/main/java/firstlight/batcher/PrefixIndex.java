package firstlight.batcher;

import firstlight.protocol.TenantId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds Blocks whose keys and values were already computed.
 *
 * <p>A full Block is known by the Block before it and its own tokens, so the known Blocks form a
 * tree whose roots are the tenants: what one tenant asked is never found by another. The hash only
 * narrows the search; parent and tokens are compared, so a collision costs time and nothing else.
 *
 * <p>Whoever holds a known Block also holds its parent, and Sequences give their Blocks back last
 * one first, so a Block is never evicted before those that build on it; see {@link CachedBlocks}.
 */
final class PrefixIndex {
  /** Stands for the Block before a Sequence's first one. */
  static final int ROOT = -1;

  static final int UNKNOWN = -2;

  private record Entry(TenantId tenant, int parent, int[] tokens, long hash, int block) {}

  private final int blockTokens;
  private final long salt;
  private final BlockHash hash;
  private final @Nullable Entry[] byBlock;
  private final Map<Long, List<Entry>> byHash = new HashMap<>();

  /**
   * @param salt a secret, so that nobody outside can make hashes collide
   */
  PrefixIndex(int blocks, int blockTokens, long salt, BlockHash hash) {
    this.blockTokens = blockTokens;
    this.salt = salt;
    this.hash = hash;
    this.byBlock = new Entry[blocks];
  }

  /**
   * The longest chain of known Blocks that begins like the tokens.
   *
   * @param blocksMax most Blocks wanted; that many must be full of tokens
   */
  int[] match(TenantId tenant, int[] tokens, int blocksMax) {
    int[] found = new int[blocksMax];
    int parent = ROOT;
    for (int i = 0; i < blocksMax; i++) {
      Entry entry = find(tenant, parent, tokens, i * blockTokens);
      if (entry == null) {
        return Arrays.copyOf(found, i);
      }
      parent = entry.block;
      found[i] = parent;
    }
    return found;
  }

  /**
   * Makes a full Block known.
   *
   * @param parent the known Block before it, or {@link #ROOT}
   * @param from where its tokens begin
   * @return the Block that is known by this content from now on: another one if that was first
   */
  int register(TenantId tenant, int parent, int[] tokens, int from, int block) {
    Entry first = find(tenant, parent, tokens, from);
    if (first != null) {
      return first.block;
    }
    int[] own = Arrays.copyOfRange(tokens, from, from + blockTokens);
    Entry entry = new Entry(tenant, parent, own, hash(tenant, parent, tokens, from), block);
    byBlock[block] = entry;
    byHash.computeIfAbsent(entry.hash, _ -> new ArrayList<>(1)).add(entry);
    return block;
  }

  /**
   * Whose Block it is.
   *
   * @throws IllegalStateException when it is not known
   */
  TenantId tenant(int block) {
    Entry entry = byBlock[block];
    if (entry == null) {
      throw new IllegalStateException("Block " + block + " is nobody's");
    }
    return entry.tenant;
  }

  boolean knows(int block) {
    return byBlock[block] != null;
  }

  /** The Block is about to be overwritten. */
  void forget(int block) {
    Entry entry = byBlock[block];
    byBlock[block] = null;
    if (entry != null) {
      List<Entry> bucket = byHash.getOrDefault(entry.hash, List.of());
      bucket.remove(entry);
      if (bucket.isEmpty()) {
        byHash.remove(entry.hash);
      }
    }
  }

  /**
   * @throws IllegalStateException when a known Block hangs in the air
   */
  void checkInvariants() {
    for (Entry entry : byBlock) {
      if (entry != null && entry.parent != ROOT && byBlock[entry.parent] == null) {
        throw new IllegalStateException("a known Block builds on one that is not known");
      }
    }
  }

  /** The Block that is known by this content, or {@link #UNKNOWN}. */
  int known(TenantId tenant, int parent, int[] tokens, int from) {
    Entry entry = find(tenant, parent, tokens, from);
    return entry == null ? UNKNOWN : entry.block;
  }

  private @Nullable Entry find(TenantId tenant, int parent, int[] tokens, int from) {
    List<Entry> bucket = byHash.get(hash(tenant, parent, tokens, from));
    if (bucket == null) {
      return null;
    }
    for (Entry entry : bucket) {
      if (entry.parent == parent
          && entry.tenant.equals(tenant)
          && Arrays.equals(entry.tokens, 0, blockTokens, tokens, from, from + blockTokens)) {
        return entry;
      }
    }
    return null;
  }

  /** Of the Block after {@code parent}; the same for whoever asks, as long as that is known. */
  long hash(TenantId tenant, int parent, int[] tokens, int from) {
    Entry before = parent == ROOT ? null : byBlock[parent];
    long start = before == null ? salt ^ tenant.hashCode() : before.hash;
    return hash.of(start, tokens, from, from + blockTokens);
  }
}
