package firstlight.protocol;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A device one can see through: its "model" answers with a hash of the whole token history, read
 * back through the block table from the KV memory it wrote. One wrong block, one stale prefix or
 * one lost token changes what it says, and what it should say is {@link #next(int[], Sampling,
 * int)}, a pure function.
 *
 * <p>A history that begins with {@link #ECHO} belongs to a model that repeats itself: seven times
 * of eight it says what followed the last token the time before, the eighth time it goes on
 * somewhere else in its history. So what it says can often be guessed, but not always.
 *
 * <p>It also checks its callers: a Step that breaks the contract of {@link Device} fails with an
 * {@link AssertionError}.
 */
public final class GlassDevice implements Device {
  /** As the first token of a prompt it makes the model repeat itself. */
  public static final int ECHO = 7;

  private static final int UNWRITTEN = -1;

  private final DeviceCapacity capacity;
  private final long stepNanos;
  private final int[] kv;
  private boolean closed;

  /** What a position remembers: the token itself, so that history can be read back. */
  public GlassDevice(DeviceCapacity capacity) {
    this(capacity, 0);
  }

  /**
   * @param stepNanos what a Step takes beside the microsecond for each of its tokens
   */
  public GlassDevice(DeviceCapacity capacity, long stepNanos) {
    this.capacity = capacity;
    this.stepNanos = stepNanos;
    this.kv = new int[capacity.blocks() * capacity.blockTokens()];
    Arrays.fill(kv, UNWRITTEN);
  }

  /** A small one for the model named "glass". */
  public static GlassDevice of(int blocks, int blockTokens, int stepTokensMax) {
    return of(blocks, blockTokens, stepTokensMax, 0);
  }

  /** The same, with a price for each Step. */
  public static GlassDevice of(int blocks, int blockTokens, int stepTokensMax, long stepNanos) {
    return new GlassDevice(
        new DeviceCapacity(
            "glass",
            blocks,
            blockTokens,
            stepTokensMax,
            4096,
            50_000,
            new Numerics("glass", "hash", 0, "0".repeat(64))),
        stepNanos);
  }

  @Override
  public DeviceCapacity capacity() {
    return capacity;
  }

  @Override
  public StepResult run(RunStep step) {
    check(!closed, "the device is closed");
    check(step.tokens() <= capacity.stepTokensMax(), "the Step has too many tokens");
    Set<GenerationId> seen = new HashSet<>();
    List<SliceResult> results = new ArrayList<>();
    Set<Integer> written = new HashSet<>();
    for (Slice slice : step.slices()) {
      check(seen.add(slice.generation()), "a Sequence has two Slices");
      write(slice, written);
    }
    for (Slice slice : step.slices()) {
      results.add(sample(slice));
    }
    return new StepResult(step.step(), results, stepNanos + 1_000L * step.tokens());
  }

  private void write(Slice slice, Set<Integer> written) {
    check(slice.end() <= capacity.contextMax(), "the Sequence is longer than the context");
    check(
        (long) slice.blocks().length * capacity.blockTokens() >= slice.end(),
        "the block table is too short");
    for (int i = 0; i < slice.tokens().length; i++) {
      int at = address(slice, slice.start() + i);
      check(written.add(at), "two Slices write the same position");
      kv[at] = slice.tokens()[i];
    }
  }

  private SliceResult sample(Slice slice) {
    List<SampledToken> tokens = new ArrayList<>();
    if (slice.sampled() > 0 && slice.sampling().hasPenalties()) {
      check(
          Arrays.equals(slice.history(), history(slice, slice.start())),
          "penalties look at something else than the history");
    }
    for (int i = slice.sampled(); i > 0; i--) {
      int[] history = history(slice, slice.end() - i + 1);
      long[] allowed = slice.allowedAt(slice.end() - i);
      tokens.add(next(history, slice.sampling(), capacity.vocabulary(), allowed));
    }
    return new SliceResult(slice.generation(), tokens);
  }

  private int[] history(Slice slice, int length) {
    int[] history = new int[length];
    for (int position = 0; position < length; position++) {
      history[position] = kv[address(slice, position)];
      check(history[position] != UNWRITTEN, "a position is read that nobody wrote");
    }
    return history;
  }

  /** What follows that history. */
  public static SampledToken next(int[] history, Sampling sampling, int vocabulary) {
    return next(history, sampling, vocabulary, null);
  }

  /**
   * What follows that history.
   *
   * @param allowed the tokens to choose from, a bit for each id: the first of these that is not
   *     before the one it would be; null: all
   */
  public static SampledToken next(
      int[] history, Sampling sampling, int vocabulary, long @Nullable [] allowed) {
    long hash = sampling.temperature() == 0 ? 17 : 31 * sampling.seed() + 19;
    for (int token : history) {
      hash = (hash ^ token) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 29;
    }
    int id =
        history[0] == ECHO ? echo(history, hash) : (int) Long.remainderUnsigned(hash, vocabulary);
    int passed = 0;
    while (allowed != null && (allowed[id >> 6] >>> id & 1) == 0) {
      check(passed++ < vocabulary, "no token is allowed");
      id = (id + 1) % vocabulary;
    }
    float logprob = -(float) Long.remainderUnsigned(hash >>> 7, 1000) / 100;
    int tops = Math.max(0, sampling.topLogprobs());
    int[] topIds = new int[tops];
    float[] topLogprobs = new float[tops];
    for (int i = 0; i < tops; i++) {
      topIds[i] = (id + i) % vocabulary;
      topLogprobs[i] = logprob - i;
    }
    return new SampledToken(id, sampling.topLogprobs() < 0 ? 0 : logprob, topIds, topLogprobs);
  }

  private static int echo(int[] history, long hash) {
    int last = history.length - 1;
    for (int i = last - 1; i >= 0 && (hash & 7) > 0; i--) {
      if (history[i] == history[last]) {
        return history[i + 1];
      }
    }
    return history[(int) Long.remainderUnsigned(hash >>> 3, history.length)];
  }

  private int address(Slice slice, int position) {
    int block = slice.blocks()[position / capacity.blockTokens()];
    check(block >= 0 && block < capacity.blocks(), "there is no such Block");
    return block * capacity.blockTokens() + position % capacity.blockTokens();
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new AssertionError(message);
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
