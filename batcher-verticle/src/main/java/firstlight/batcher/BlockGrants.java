package firstlight.batcher;

import firstlight.batcher.Sequence.State;
import firstlight.protocol.Time;
import java.util.Optional;

/**
 * Gives Sequences the Blocks they run with, and takes them back when others need them more.
 *
 * <p>A Sequence begins when there are Blocks for all its tokens and for the output it is expected
 * to have, beside what is still reserved for those that run: so Blocks seldom run out later. When
 * they do, a Sequence that may not run for want of credit gives its Blocks back, or else the least
 * urgent and of those the latest. One that would run alone always begins.
 *
 * <p>Long prompts together reserve at most their share of the memory, unless there is only one. In
 * turn, while one waits, others leave room for it, so that it gets its chance.
 */
final class BlockGrants {
  private final KvMemory kv;
  private final RunningSet running;
  private final WaitingQueue waiting;
  private final double longShare;
  private final Counts counts;
  private final Time time;

  BlockGrants(
      KvMemory kv,
      RunningSet running,
      WaitingQueue waiting,
      double longShare,
      Counts counts,
      Time time) {
    this.kv = kv;
    this.running = running;
    this.waiting = waiting;
    this.longShare = longShare;
    this.counts = counts;
    this.time = time;
  }

  /** Lets a waiting Sequence run, if there is room. */
  boolean begin(Sequence sequence) {
    while (running.isFull() || !withinShare(sequence) || !kv.begin(sequence, spare(sequence))) {
      Optional<Sequence> victim = running.lastPaused();
      if (victim.isEmpty()) {
        return false;
      }
      preempt(victim.get());
    }
    waiting.remove(sequence);
    sequence.state(State.RUNNING);
    running.add(sequence);
    if (!sequence.begun()) {
      int found = kv.cachedPrompt(sequence);
      counts.prefixQueries += sequence.promptLength();
      counts.prefixHits += found;
      sequence.begin(found, time.nanos());
    }
    return true;
  }

  /** Blocks that must be left over when it begins. */
  private int spare(Sequence sequence) {
    if (running.size() == 0) {
      return 0;
    }
    int spare = growth(sequence, kv.blocks(sequence.length()));
    for (Sequence other : running.all()) {
      spare += growth(other, other.table().size());
    }
    return spare;
  }

  /** Blocks that neither are held nor set aside for those that run; below 0: too few. */
  int unreserved() {
    int free = kv.available();
    for (Sequence sequence : running.all()) {
      free -= growth(sequence, sequence.table().size());
    }
    return free;
  }

  /** There is hardly room for one more. */
  boolean crowded() {
    return running.isFull() || unreserved() < kv.size() / 16;
  }

  private int growth(Sequence sequence, int blocks) {
    return Math.max(0, need(sequence) - blocks);
  }

  /** Blocks for all it has and is expected to get. */
  int need(Sequence sequence) {
    return kv.blocks(sequence.reservedLength());
  }

  private boolean withinShare(Sequence sequence) {
    int longs = reserved(true);
    if (sequence.longPrompt()) {
      return longs == 0 || longs + need(sequence) <= longShare * kv.size();
    }
    Sequence longest = waitingLong();
    if (longest == null) {
      return true;
    }
    // Room is kept for the long one that waits, in Blocks and in number.
    double claim = Math.max(longs > 0 ? longs : need(longest), longShare * kv.size());
    return reserved(false) + need(sequence) <= kv.size() - claim
        && (longs > 0 || running.size() + 1 < running.max());
  }

  private int reserved(boolean longPrompt) {
    int blocks = 0;
    for (Sequence sequence : running.all()) {
      blocks += sequence.longPrompt() == longPrompt ? need(sequence) : 0;
    }
    return blocks;
  }

  private @org.jspecify.annotations.Nullable Sequence waitingLong() {
    Sequence most = null;
    for (Sequence sequence : waiting.all()) {
      if (sequence.longPrompt()
          && sequence.runnable()
          && (most == null || need(sequence) > need(most))) {
        most = sequence;
      }
    }
    return most;
  }

  /** Sees that the Sequence has Blocks for its tokens; false when it had to give up its own. */
  boolean makeRoom(Sequence sequence) {
    while (kv.needsBlock(sequence)) {
      if (!kv.grow(sequence)) {
        Sequence victim = running.victim();
        preempt(victim);
        if (victim == sequence) {
          return false;
        }
      }
    }
    return true;
  }

  private void preempt(Sequence victim) {
    if (victim.inFlight()) {
      throw new IllegalStateException("a Sequence of this Step would lose its Blocks");
    }
    counts.preemptions++;
    running.remove(victim);
    kv.end(victim);
    victim.state(State.WAITING);
    waiting.add(victim);
  }
}
