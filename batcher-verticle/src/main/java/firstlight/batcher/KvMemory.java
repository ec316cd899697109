package firstlight.batcher;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;

/** Gives Blocks to Sequences, and lets them use again what others computed. */
final class KvMemory {
  private final int blockTokens;
  private final boolean reuse;
  private final PrefixIndex index;
  private final BlockPool pool;

  KvMemory(SchedulerParts parts) {
    int blocks = parts.capacity().blocks();
    this.blockTokens = parts.capacity().blockTokens();
    this.reuse = parts.limits().prefixCache();
    this.index = new PrefixIndex(blocks, blockTokens, parts.salt(), parts.hash());
    this.pool = new BlockPool(blocks, index, parts.limits().retention(), parts.time());
  }

  /** Positions that all Blocks together can hold. */
  int positions() {
    return (int) Math.min(Integer.MAX_VALUE, (long) pool.size() * blockTokens);
  }

  /**
   * Blocks for all tokens that the Sequence has so far, found ones first.
   *
   * @param spare how many Blocks must be left over for others
   * @return false, and nothing has changed, when there are not that many
   */
  boolean begin(Sequence sequence, int spare) {
    int[] found = reuse ? match(sequence) : new int[0];
    int missing = blocks(sequence.length()) - found.length;
    int lost = 0;
    for (int block : found) {
      lost += pool.isCached(block) ? 1 : 0;
    }
    if (missing + spare > pool.available() - lost) {
      return false;
    }
    for (int block : found) {
      pool.hold(block);
    }
    sequence.table().begin(found);
    sequence.computed(found.length * blockTokens);
    for (int i = 0; i < missing; i++) {
      sequence.table().append(pool.take());
    }
    return true;
  }

  /** Tokens of the Sequence that would be found now. */
  int found(Sequence sequence) {
    return reuse ? match(sequence).length * blockTokens : 0;
  }

  /** The last token is always computed: what follows it is not in the cache. */
  private int[] match(Sequence sequence) {
    int blocksMax = (sequence.length() - 1) / blockTokens;
    return index.match(sequence.spec().tenant(), sequence.tokens(), blocksMax);
  }

  /** Must the Sequence get one more Block for the tokens it has? */
  boolean needsBlock(Sequence sequence) {
    return blocks(sequence.length()) > sequence.table().size();
  }

  /**
   * Gives it one.
   *
   * @return false when there is none
   */
  boolean grow(Sequence sequence) {
    if (pool.available() == 0) {
      return false;
    }
    sequence.table().append(pool.take());
    return true;
  }

  /**
   * Positions behind the Sequence's tokens that it has Blocks for, or may have one more Block for.
   *
   * @param spare how many Blocks must be left over for others
   */
  int room(Sequence sequence, int spare) {
    int blocks = sequence.table().size() + (pool.available() > spare ? 1 : 0);
    return blocks * blockTokens - sequence.length();
  }

  /** Takes the one more Block where so many positions need it. */
  void makeRoom(Sequence sequence, int positions) {
    if (blocks(sequence.length() + positions) > sequence.table().size()) {
      sequence.table().append(pool.take());
    }
  }

  /**
   * The first so many positions of the Sequence are computed. Makes its full Blocks known. Where
   * another Sequence computed the same, both use that Block from now on: the numbers in it are the
   * same.
   */
  void computed(Sequence sequence, int positions) {
    sequence.computed(positions);
    BlockTable table = sequence.table();
    while (reuse && table.known() < sequence.computed() / blockTokens) {
      int own = table.get(table.known());
      int from = table.known() * blockTokens;
      int first =
          index.register(sequence.spec().tenant(), table.lastKnown(), sequence.tokens(), from, own);
      if (first != own) {
        pool.hold(first);
        pool.release(own);
      }
      table.makeKnown(first);
    }
  }

  /** Lets a Sequence that runs use Blocks of its tokens that have become known meanwhile. */
  void adopt(Sequence sequence) {
    BlockTable table = sequence.table();
    int blocksMax = (sequence.length() - 1) / blockTokens;
    while (reuse && table.size() > 0 && table.known() < blocksMax) {
      int from = table.known() * blockTokens;
      int first = index.known(sequence.spec().tenant(), table.lastKnown(), sequence.tokens(), from);
      if (first == PrefixIndex.UNKNOWN) {
        return;
      }
      int own = table.get(table.known());
      pool.hold(first);
      pool.release(own);
      table.makeKnown(first);
      sequence.computed(Math.max(sequence.computed(), from + blockTokens));
    }
  }

  /** A hash of the first Block that the Sequence has to compute, if that is a full one. */
  OptionalLong nextBlock(Sequence sequence) {
    BlockTable table = sequence.table();
    int[] found = reuse && table.size() == 0 ? match(sequence) : new int[0];
    int known = Math.max(found.length, table.known());
    int from = known * blockTokens;
    if (!reuse || from + blockTokens > sequence.length()) {
      return OptionalLong.empty();
    }
    int parent = found.length > 0 ? found[found.length - 1] : table.lastKnown();
    return OptionalLong.of(index.hash(sequence.spec().tenant(), parent, sequence.tokens(), from));
  }

  /** Full Blocks that two Sequences begin with alike, and that the second one may use. */
  int sharedBlocks(Sequence from, Sequence to) {
    int length = Math.min(from.length(), to.length() - 1);
    int mismatch = Arrays.mismatch(from.tokens(), 0, length, to.tokens(), 0, length);
    return (mismatch < 0 ? length : mismatch) / blockTokens;
  }

  /** It ended as it should; what a next turn is expected to ask for is worth keeping. */
  void keep(Sequence sequence) {
    for (int i = 0; sequence.spec().continued() && i < sequence.table().known(); i++) {
      pool.keep(sequence.table().get(i));
    }
  }

  /** Takes all its Blocks back; those that are known may be found again. */
  void end(Sequence sequence) {
    sequence.table().releaseAll(pool);
    sequence.computed(0);
  }

  /** Prompt tokens of the Sequence that were found: whole Blocks, and never the last token. */
  int cachedPrompt(Sequence sequence) {
    int promptMax = (sequence.promptLength() - 1) / blockTokens * blockTokens;
    return Math.min(sequence.computed(), promptMax);
  }

  int held() {
    return pool.held();
  }

  int available() {
    return pool.available();
  }

  int size() {
    return pool.size();
  }

  /**
   * @param holders every Sequence that has Blocks
   * @throws IllegalStateException when a Block is lost, or counted wrongly
   */
  void checkInvariants(List<Sequence> holders) {
    pool.checkInvariants();
    index.checkInvariants();
    int[] counts = new int[pool.size()];
    for (Sequence sequence : holders) {
      int known = sequence.table().known() * blockTokens;
      if (sequence.computed() >= sequence.length() || known > sequence.computed()) {
        throw new IllegalStateException("a Sequence is further than it can be");
      }
      for (int block : sequence.table().toArray()) {
        counts[block]++;
      }
    }
    for (int block = 0; block < counts.length; block++) {
      if (counts[block] != pool.holders(block)) {
        throw new IllegalStateException(
            "Block %d is in %d tables but held %d times"
                .formatted(block, counts[block], pool.holders(block)));
      }
    }
  }

  /** Blocks that so many positions need. */
  int blocks(int positions) {
    return (positions + blockTokens - 1) / blockTokens;
  }
}
