package firstlight.batcher;

import firstlight.batcher.Outcome.Ended;
import firstlight.batcher.Outcome.Refused;
import firstlight.batcher.Sequence.State;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.StepResult;
import firstlight.protocol.Time;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the device does next. {@link #plan()} makes a Step, the device runs it, {@link
 * #apply} takes the result; in between anything may be submitted, cancelled or credited. One
 * thread, no clock of its own, no input or output.
 *
 * <p>A Sequence waits, runs or has ended. Running ones have Blocks, waiting ones have none. A Step
 * holds, under one budget of tokens: first one token for each running Sequence that decodes, the
 * earliest arrived first; then a chunk for each that still prefills its prompt; then as many
 * waiting ones as have room, in their order; then guesses of {@link Speculation}. When Blocks run
 * out, a Sequence that may not run for want of credit gives its Blocks back, or else the one that
 * arrived last; it waits again before all others and computes its tokens once more. So the earliest
 * arrived always gets on, and since a token depends on nothing but the tokens before it, nobody can
 * see the difference.
 *
 * <p>Every admitted Sequence has exactly one {@link Ended} or {@link Refused}. One that ends while
 * the device works on it is told of at once, and gives its Blocks back when that Step is done.
 */
final class Scheduler {
  private final SchedulerLimits limits;
  private final int stepTokensMax;
  private final int chunkMax;
  private final int vocabulary;
  private final IntFunction<byte[]> tokenBytes;
  private final Time time;
  private final Counts counts;
  private final KvMemory kv;
  private final Speculation speculation;
  private final Admission admission;
  private final WaitingQueue waiting;
  private final Pace pace = new Pace();

  /** Every Sequence that has not ended. */
  private final Map<GenerationId, Sequence> live = new LinkedHashMap<>();

  private final RunningSet running;

  private @Nullable StepDraft inFlight;
  private long arrivals;
  private long steps;

  Scheduler(SchedulerParts parts) {
    this.limits = parts.limits();
    this.stepTokensMax = Math.min(limits.stepTokensMax(), parts.capacity().stepTokensMax());
    // One long prompt never takes a whole Step, so that others get on beside it.
    this.chunkMax = Math.min(limits.promptChunkMax(), Math.max(1, stepTokensMax * 3 / 4));
    // Each that runs has room for a token in every Step.
    this.running = new RunningSet(Math.min(limits.runningMax(), stepTokensMax));
    this.vocabulary = parts.capacity().vocabulary();
    this.tokenBytes = parts.tokenBytes();
    this.time = parts.time();
    this.counts = parts.counts();
    this.kv = new KvMemory(parts.capacity(), limits.prefixCache(), parts.salt(), parts.hash());
    this.speculation = new Speculation(limits.draftTokensMax(), kv, counts);
    this.admission = new Admission(parts.capacity().contextMax(), kv.positions(), tokenBytes);
    this.waiting = new WaitingQueue(limits.waitingMax(), limits.waitingTokensMax());
  }

  /**
   * Takes a new generation in.
   *
   * @param credit tokens that may be emitted for now
   * @return empty, or at once why it ended or was refused
   */
  List<Outcome> submit(GenerationSpec spec, int credit) {
    if (live.containsKey(spec.id())) {
      return List.of(
          new Refused(
              spec.id(),
              new MeshException(
                  FailureKind.CONFLICT,
                  "generation_exists",
                  "The generation is running already.")));
    }
    int length = spec.prompt().length + spec.known().length;
    var arrival = new Sequence.Arrival(++arrivals, time.nanos());
    return switch (admission.decide(spec, arrival, credit)) {
      case Admission.Decision.Answer(Outcome outcome) -> List.of(outcome);
      case Admission.Decision.Admit _ when !waiting.hasRoomFor(length) ->
          List.of(new Refused(spec.id(), overloaded("The service is full.")));
      case Admission.Decision.Admit(Sequence sequence) -> {
        live.put(sequence.id(), sequence);
        waiting.addLast(sequence);
        yield List.of();
      }
    };
  }

  /** Nobody wants it any more. */
  List<Outcome> cancel(GenerationId generation) {
    Sequence sequence = live.get(generation);
    return sequence == null ? List.of() : List.of(end(sequence, FinishReason.CANCELLED));
  }

  void credit(GenerationId generation, int tokens) {
    Sequence sequence = live.get(generation);
    if (sequence != null) {
      sequence.addCredit(tokens, time.nanos());
    }
  }

  /** Keeps a Sequence from running whatever its credit, or lets it go again. */
  void hold(GenerationId generation, boolean hold) {
    Sequence sequence = live.get(generation);
    if (sequence != null) {
      sequence.hold(hold, time.nanos());
    }
  }

  /** Ends what has waited for too long: for its first Step, or for credit. */
  List<Outcome> expire() {
    List<Outcome> outcomes = new ArrayList<>();
    for (Sequence sequence : List.copyOf(live.values())) {
      if (sequence.pausedNanos(time.nanos()) > limits.stallMax().toNanos()) {
        outcomes.add(end(sequence, FinishReason.CANCELLED));
      } else if (!sequence.begun() && late(sequence)) {
        discard(sequence);
        outcomes.add(
            new Refused(sequence.id(), overloaded("The service is too busy to answer in time.")));
      }
    }
    return outcomes;
  }

  private boolean late(Sequence sequence) {
    long deadline = sequence.spec().deadline();
    return deadline > 0
        ? time.epochMillis() >= deadline
        : time.nanos() - sequence.arrivedNanos() >= limits.firstTokenMax().toNanos();
  }

  /**
   * What the device should do now, or nothing.
   *
   * @throws IllegalStateException while it is at work
   */
  Optional<RunStep> plan() {
    if (inFlight != null) {
      throw new IllegalStateException("a Step is in flight");
    }
    StepDraft draft = new StepDraft(steps + 1, stepTokensMax);
    planDecodes(draft);
    planPrefills(draft);
    planWaiting(draft);
    speculation.plan(draft, running.size());
    if (draft.isEmpty()) {
      return Optional.empty();
    }
    steps++;
    inFlight = draft;
    return Optional.of(draft.step());
  }

  private void planDecodes(StepDraft draft) {
    for (Sequence sequence : running.all()) {
      if (sequence.state() == State.RUNNING
          && sequence.runnable()
          && sequence.missing() == 1
          && makeRoom(sequence)) {
        draft.add(sequence, 1);
      }
    }
  }

  private void planPrefills(StepDraft draft) {
    for (Sequence sequence : running.all()) {
      if (sequence.runnable() && sequence.missing() > 1) {
        addChunk(draft, sequence);
      }
    }
  }

  private void planWaiting(StepDraft draft) {
    while (draft.left() > 0) {
      Sequence next = waiting.firstRunnable();
      if (next == null || !begin(next)) {
        return;
      }
      addChunk(draft, next);
    }
  }

  private void addChunk(StepDraft draft, Sequence sequence) {
    int most = Math.min(draft.left(), chunkMax);
    int tokens = Math.min(sequence.missing(), most);
    if (tokens > 0) {
      draft.add(sequence, tokens);
    }
  }

  /** Sees that the Sequence has Blocks for its tokens; false when it had to give up its own. */
  private boolean makeRoom(Sequence sequence) {
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
    waiting.addFirst(victim);
  }

  /** Lets a waiting Sequence run, if there is room: each that runs keeps a Block to grow into. */
  private boolean begin(Sequence sequence) {
    while (running.isFull() || !kv.begin(sequence, running.size())) {
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

  /**
   * Takes in what the Step brought.
   *
   * @throws IllegalStateException when the result is not that of the Step in flight
   */
  List<Outcome> apply(StepResult result) {
    StepDraft done = inFlight;
    if (done == null) {
      throw new IllegalStateException("no Step is in flight");
    }
    done.check(result, vocabulary);
    inFlight = null;
    pace.note(done.tokens(), result.nanos());
    speculation.note(done, result);
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < done.size(); i++) {
      Sequence sequence = done.sequence(i);
      sequence.inFlight(false);
      if (sequence.state() == State.ENDED) {
        kv.end(sequence);
      } else {
        advance(sequence, done, i, result.slices().get(i).tokens(), outcomes);
      }
    }
    return outcomes;
  }

  private void advance(
      Sequence sequence,
      StepDraft done,
      int part,
      List<SampledToken> tokens,
      List<Outcome> outcomes) {
    int[] guesses = done.guesses(part);
    sequence.computed(done.slices().get(part).end() - guesses.length);
    kv.publish(sequence);
    int accepted = speculation.accepted(sequence, guesses, tokens);
    for (int i = 0; i < Math.min(accepted + 1, tokens.size()); i++) {
      StopRule.Verdict verdict = emit(sequence, tokens.get(i), outcomes);
      if (verdict.end() != null) {
        discard(sequence);
        outcomes.add(new Ended(sequence.id(), verdict.end(), sequence.usage(), verdict.stop()));
        return;
      }
    }
    // The accepted ones have their keys and values; those after them are overwritten.
    sequence.computed(sequence.computed() + accepted);
    kv.publish(sequence);
  }

  private StopRule.Verdict emit(Sequence sequence, SampledToken token, List<Outcome> outcomes) {
    boolean first = !sequence.emitted();
    sequence.append(token.id());
    sequence.notePause(true, time.nanos());
    StopRule.Verdict verdict =
        sequence.stopRule().next(token.id(), tokenBytes.apply(token.id()), sequence.full());
    counts.generationTokens++;
    counts.promptTokens += first ? sequence.promptLength() : 0;
    outcomes.add(sequence.emitted(token, verdict.text(), first));
    return verdict;
  }

  private Ended end(Sequence sequence, FinishReason reason) {
    discard(sequence);
    return new Ended(sequence.id(), reason, sequence.usage(), new byte[0]);
  }

  private void discard(Sequence sequence) {
    live.remove(sequence.id());
    waiting.remove(sequence);
    running.remove(sequence);
    sequence.state(State.ENDED);
    if (!sequence.inFlight()) {
      kv.end(sequence);
    }
  }

  /**
   * The device is gone, and what the Blocks hold with it: everything fails, also what waits.
   * Nothing is given back, so this works even when the books are wrong; the scheduler is of no use
   * any more.
   */
  List<Outcome> failAll(MeshException failure) {
    List<Outcome> outcomes = new ArrayList<>();
    live.keySet().forEach(generation -> outcomes.add(new Refused(generation, failure)));
    live.clear();
    return outcomes;
  }

  private MeshException overloaded(String what) {
    long wait = pace.retryAfterMillis(outstandingTokens());
    String message = "%s Try again in %d seconds.".formatted(what, (wait + 999) / 1000);
    return new MeshException(FailureKind.OVERLOADED, "overloaded", message, null, wait);
  }

  int waiting() {
    return waiting.size();
  }

  int running() {
    return running.size();
  }

  boolean idle() {
    return live.isEmpty() && inFlight == null;
  }

  int blocksFree() {
    return kv.available();
  }

  /** Share of the Blocks that are held, from 0 to 1. */
  double kvUsage() {
    return kv.held() / (double) kv.size();
  }

  long outstandingTokens() {
    return live.values().stream().mapToLong(Sequence::outstanding).sum();
  }

  /**
   * @throws IllegalStateException when anything is lost, doubled or out of order
   */
  void checkInvariants() {
    List<Sequence> holders = new ArrayList<>(running.all());
    StepDraft flying = inFlight;
    for (int i = 0; flying != null && i < flying.size(); i++) {
      if (flying.sequence(i).state() == State.ENDED) {
        holders.add(flying.sequence(i));
      }
    }
    kv.checkInvariants(holders);
    running.checkInvariants();
    waiting.checkInvariants();
    if (live.size() != running.size() + waiting.size()) {
      throw new IllegalStateException("a Sequence is lost");
    }
  }
}
