package firstlight.batcher;

import firstlight.batcher.Outcome.Emitted;
import firstlight.batcher.PrefixSharing.Awaited;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.Priority;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Slice;
import firstlight.protocol.Usage;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A generation's tokens, and how far the device is with them. Of its {@code length} tokens the
 * first {@code computed} have their keys and values in Blocks; when all but the last have, one more
 * position gives the next token. Losing its Blocks therefore costs time only: {@code computed} is 0
 * again and nothing else changes.
 */
final class Sequence {
  enum State {
    WAITING,
    RUNNING,
    ENDED
  }

  private static final int[] NO_HISTORY = {};
  private static final long[][] ALL = {};

  private final GenerationSpec spec;
  private final long arrival;
  private final long arrivedNanos;
  private final int outputMax;
  private final StopRule stopRule;
  private final @Nullable Guide guide;
  private final BlockTable table = new BlockTable();
  private final Drafting drafting = new Drafting();
  private @Nullable Awaited awaited;
  private int[] tokens;
  private int length;
  private int computed;
  private int credit;
  private boolean held;
  private long pausedSince;
  private int cached = -1;
  private long queuedNanos;
  private boolean emitted;
  private State state = State.WAITING;
  private boolean inFlight;
  private TenantShare share;
  private int expectedOutput;
  private boolean longPrompt;
  private int fresh;
  private int charged;

  /**
   * @param arrival counts Sequences, so that the latest can be told
   * @param outputMax the spec's, or less where there is less room
   * @param stopRule has seen the tokens known already
   * @param guide has seen them too; null: any token may come
   * @param credit tokens that may be emitted for now
   */
  Sequence(
      GenerationSpec spec,
      Arrival arrival,
      int outputMax,
      StopRule stopRule,
      @Nullable Guide guide,
      int credit) {
    this.spec = spec;
    this.arrival = arrival.number();
    this.arrivedNanos = arrival.nanos();
    this.pausedSince = arrival.nanos();
    this.outputMax = outputMax;
    this.expectedOutput = outputMax;
    this.share = new TenantShare(spec.tenant());
    this.stopRule = stopRule;
    this.guide = guide;
    this.credit = credit;
    this.length = spec.prompt().length + spec.known().length;
    this.tokens = Arrays.copyOf(spec.prompt(), length + 16);
    System.arraycopy(spec.known(), 0, tokens, spec.prompt().length, spec.known().length);
  }

  /** When a Sequence came, and as which. */
  record Arrival(long number, long nanos) {}

  /**
   * It was let in.
   *
   * @param share its tenant's
   * @param expected output tokens for which there should be room
   * @param isLong its prompt is a long one
   * @param fresh tokens that were not in the prefix cache when it came
   */
  void admitted(TenantShare share, int expected, boolean isLong, int fresh) {
    this.fresh = fresh;
    this.share = share;
    this.expectedOutput = expected;
    this.longPrompt = isLong;
  }

  /** Tokens to be computed before its first one comes, for all that is known. */
  int toCompute() {
    return state == State.WAITING && begun() ? length : fresh;
  }

  TenantShare share() {
    return share;
  }

  boolean longPrompt() {
    return longPrompt;
  }

  Priority priority() {
    return spec.priority();
  }

  /** It had Blocks and lost them, here or on the replica where it was before. */
  boolean preempted() {
    return state == State.WAITING && (begun() || spec.moved());
  }

  /** Positions for which there should be room: at least one more than there are, if it goes on. */
  int reservedLength() {
    int output = Math.max(expectedOutput, Math.min(outputMax, output() + 1));
    return promptLength() + output;
  }

  /** Prompt tokens up to a position that were not counted before: they are once only. */
  int charge(int end) {
    int fresh = Math.max(0, Math.min(end, promptLength()) - Math.max(charged, computed));
    charged = Math.max(charged, end);
    return fresh;
  }

  GenerationId id() {
    return spec.id();
  }

  GenerationSpec spec() {
    return spec;
  }

  long arrival() {
    return arrival;
  }

  long arrivedNanos() {
    return arrivedNanos;
  }

  StopRule stopRule() {
    return stopRule;
  }

  /** Keeps it to its constraint; null: it has none. */
  @Nullable Guide guide() {
    return guide;
  }

  BlockTable table() {
    return table;
  }

  State state() {
    return state;
  }

  void state(State next) {
    state = next;
  }

  boolean inFlight() {
    return inFlight;
  }

  void inFlight(boolean now) {
    inFlight = now;
  }

  /** The tokens; those beyond {@link #length()} mean nothing. */
  int[] tokens() {
    return tokens;
  }

  int length() {
    return length;
  }

  int computed() {
    return computed;
  }

  void computed(int positions) {
    computed = positions;
  }

  /** Tokens whose keys and values are missing. */
  int missing() {
    return length - computed;
  }

  int promptLength() {
    return spec.prompt().length;
  }

  /** Output tokens so far, known ones included. */
  int output() {
    return length - promptLength();
  }

  /** Tokens still to be computed in the worst case. */
  long outstanding() {
    return missing() + (long) outstandingOutput();
  }

  /** Output tokens it can still get. */
  int outstandingOutput() {
    return outputMax - output();
  }

  /** The device chose the next token. */
  void append(int token) {
    if (length == tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * length);
    }
    tokens[length++] = token;
    credit--;
    emitted = true;
  }

  /**
   * What is told of its last token.
   *
   * @param text bytes that go out with it
   * @param first nothing was told before
   */
  Emitted emitted(SampledToken token, byte[] text, boolean first) {
    return new Emitted(id(), List.of(token), text, output() - 1, first, cached(), queuedMillis());
  }

  boolean full() {
    return output() >= outputMax;
  }

  /** At least one token went out. */
  boolean emitted() {
    return emitted;
  }

  /** May it be in the next Step? */
  boolean runnable() {
    return credit > 0 && !held;
  }

  void addCredit(int more, long nowNanos) {
    boolean was = runnable();
    // More than it can ever use is as good as all, and does not overflow.
    credit = Math.min(credit + Math.min(more, outputMax), outputMax);
    notePause(was, nowNanos);
  }

  /** Holds it back whatever its credit, or lets it go again. */
  void hold(boolean hold, long nowNanos) {
    boolean was = runnable();
    held = hold;
    notePause(was, nowNanos);
  }

  /** Its credit may just have been used up. */
  void notePause(boolean wasRunnable, long nowNanos) {
    if (wasRunnable && !runnable()) {
      pausedSince = nowNanos;
    }
  }

  /** How long it has not been runnable. */
  long pausedNanos(long nowNanos) {
    return runnable() ? 0 : nowNanos - pausedSince;
  }

  /** It got Blocks for the first time. */
  void begin(int found, long nowNanos) {
    if (cached < 0) {
      cached = found;
      queuedNanos = nowNanos - arrivedNanos;
    }
  }

  /** It got Blocks at least once. */
  boolean begun() {
    return cached >= 0;
  }

  int cached() {
    return Math.max(0, cached);
  }

  long queuedMillis() {
    return queuedNanos / 1_000_000;
  }

  Usage usage() {
    return new Usage(promptLength(), cached(), output());
  }

  /** Most tokens that may be guessed: each may be emitted, and so may the one after them. */
  int draftMax() {
    return Math.min(credit, outputMax - output()) - 1;
  }

  /** Blocks that another Sequence was last seen to compute for it. */
  @Nullable Awaited awaited() {
    return awaited;
  }

  void awaited(@Nullable Awaited now) {
    awaited = now;
  }

  Drafting drafting() {
    return drafting;
  }

  /**
   * The next tokens for the device; the last of all is sampled.
   *
   * @param guesses tokens that may come next, to be sampled as if they did
   */
  Slice slice(int count, int[] guesses) {
    int end = computed + count;
    int sampled = end == length ? 1 + guesses.length : 0;
    int[] next = Arrays.copyOfRange(tokens, computed, end + guesses.length);
    System.arraycopy(guesses, 0, next, count, guesses.length);
    // Only what is sampled is penalised.
    boolean penalised = sampled > 0 && spec.sampling().hasPenalties();
    return new Slice(
        id(),
        next,
        computed,
        table.toArray(),
        sampled,
        spec.sampling(),
        promptLength(),
        penalised ? Arrays.copyOf(tokens, computed) : NO_HISTORY,
        guide == null || sampled == 0 ? ALL : guide.masks());
  }
}
