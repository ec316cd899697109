package firstlight.batcher;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Lets a Sequence use the Blocks that another is computing at this time. When several prompts begin
 * alike, one of them is computed; the others sit out the Steps that compute what they share, and
 * begin with those Blocks, or go on with them, when they are known.
 *
 * <p>A Sequence only ever waits for one that is in the same Step, that is as urgent, and that is
 * not a long prompt beside which it is a short one. So it never waits for something that does not
 * get on, and when the other one ends, is preempted or may not run, it computes for itself.
 */
final class PrefixSharing {
  private final KvMemory kv;

  /** Who computes which Block in this Step, by the hash of the first that is not known yet. */
  private final Map<Long, Sequence> computing = new HashMap<>();

  PrefixSharing(KvMemory kv) {
    this.kv = kv;
  }

  /** A new Step begins. */
  void clear() {
    computing.clear();
  }

  /** The Sequence's next tokens are in this Step. */
  void computes(Sequence sequence) {
    kv.nextBlock(sequence).ifPresent(hash -> computing.put(hash, sequence));
  }

  /**
   * Gives the Sequence what has become known of its tokens, and says whether it should sit this
   * Step out, because another one computes its next Block.
   */
  boolean sitsOut(Sequence sequence) {
    Awaited awaited = sequence.awaited();
    if (awaited != null && awaited.comes()) {
      return true;
    }
    kv.adopt(sequence);
    Awaited next = find(sequence);
    sequence.awaited(next);
    return next != null;
  }

  private @Nullable Awaited find(Sequence sequence) {
    if (computing.isEmpty()) {
      return null;
    }
    OptionalLong hash = kv.nextBlock(sequence);
    Sequence from = hash.isPresent() ? computing.get(hash.getAsLong()) : null;
    if (from == null
        || !from.spec().tenant().equals(sequence.spec().tenant())
        || from.priority().compareTo(sequence.priority()) < 0
        || (from.longPrompt() && !sequence.longPrompt())) {
      return null;
    }
    Awaited awaited = new Awaited(from, kv.sharedBlocks(from, sequence));
    return awaited.comes() ? awaited : null;
  }

  /**
   * What a Sequence waits for.
   *
   * @param from who computes it
   * @param blocks from the first that both have in common
   */
  record Awaited(Sequence from, int blocks) {
    /** More of it will be known after this Step. */
    boolean comes() {
      return from.inFlight() && from.table().known() < blocks;
    }
  }
}
