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
import firstlight.protocol.TenantId;
import firstlight.protocol.Time;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the device does next. {@link #plan()} makes a Step, the device runs it, {@link
 * #apply} takes the result; in between anything may be submitted, cancelled or credited. One
 * thread, no clock of its own, no input or output.
 *
 * <p>A Sequence waits, runs or has ended. Running ones have Blocks, waiting ones have none. A Step
 * holds, under one budget of tokens: first one token for each running Sequence that decodes; then
 * chunks of prompts, as {@link PrefillPlanner} chooses them, as many as {@link StepBudget} allows;
 * then guesses of {@link Speculation}. When Blocks run out, {@link BlockGrants} takes some back
 * from a Sequence, which waits again and computes its tokens once more. The earliest of the most
 * urgent always gets on, and since a token depends on nothing but the tokens before it, nobody can
 * see the difference.
 *
 * <p>Every admitted Sequence has exactly one {@link Ended} or {@link Refused}. One that ends while
 * the device works on it is told of at once, and gives its Blocks back when that Step is done.
 */
final class Scheduler {
  /** Share of the answers that are no longer than is reserved for them. */
  private static final double EXPECTED_QUANTILE = 0.9;

  private static final int OUTPUT_FLOOR = 16;

  /** Prompt tokens that have room in every Step. */
  private static final int PREFILL_FLOOR = 16;

  private final SchedulerLimits limits;
  private final int stepTokensMax;
  private final int vocabulary;
  private final Time time;
  private final Counts counts;
  private final KvMemory kv;
  private final Speculation speculation;
  private final Constraints constraints;
  private final Emitter emitter;
  private final Admission admission;
  private final WaitingQueue waiting;
  private final TenantShares tenants;
  private final OutputLengths outputs;
  private final StepCost cost = new StepCost();
  private final StepBudget budget;
  private final BlockGrants grants;
  private final PrefillPlanner prefills;
  private final StepPrediction prediction;
  private final Drain drain = new Drain();
  private final Intake intake;

  private final Map<GenerationId, Sequence> live = new LinkedHashMap<>();

  private final RunningSet running;

  private @Nullable StepDraft inFlight;
  private long arrivals;
  private long steps;
  private StepLoad plannedLoad = StepLoad.NOTHING;
  private long plannedNanos;
  private long appliedNanos;

  Scheduler(SchedulerParts parts) {
    this.limits = parts.limits();
    this.stepTokensMax = Math.min(limits.stepTokensMax(), parts.capacity().stepTokensMax());
    // Each that runs has room for a token in every Step.
    this.running = new RunningSet(Math.min(limits.runningMax(), stepTokensMax));
    this.vocabulary = parts.capacity().vocabulary();
    this.time = parts.time();
    this.counts = parts.counts();
    this.kv = new KvMemory(parts);
    this.speculation = new Speculation(limits.draftTokensMax(), kv, counts);
    this.emitter = new Emitter(parts);
    this.constraints = new Constraints(vocabulary, parts.tokenBytes());
    this.admission =
        new Admission(
            parts.capacity().contextMax(), kv.positions(), parts.tokenBytes(), constraints);
    SharePolicy shares = limits.shares();
    this.waiting =
        new WaitingQueue(
            limits.waitingMax(), limits.waitingTokensMax(), shares.tenantWaitingShare());
    this.tenants = new TenantShares(shares.tenantsRemembered(), time);
    this.outputs = new OutputLengths(EXPECTED_QUANTILE, OUTPUT_FLOOR, shares.tenantsRemembered());
    this.grants = new BlockGrants(kv, running, waiting, shares.longShare(), counts, time);
    long target = shares.interTokenTarget().toNanos();
    int floor = Math.min(PREFILL_FLOOR, stepTokensMax);
    this.budget = new StepBudget(cost, target, floor);
    // One long prompt never takes a whole Step, so that others get on beside it.
    int chunkMax = Math.min(limits.promptChunkMax(), Math.max(1, stepTokensMax * 3 / 4));
    var sharing = new PrefixSharing(kv);
    this.prefills =
        new PrefillPlanner(
            running, waiting, tenants, grants, budget, sharing, chunkMax, shares.longShare());
    this.prediction = new StepPrediction(cost, target, stepTokensMax, floor, shares.longShare());
    var forecast = new Forecast(cost, running, waiting, grants, outputs, prediction);
    this.intake = new Intake(limits, kv, waiting, tenants, outputs, forecast, drain, time);
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
    var arrival = new Sequence.Arrival(++arrivals, time.nanos());
    return switch (admission.decide(spec, arrival, credit)) {
      case Admission.Decision.Answer(Outcome outcome) -> List.of(outcome);
      case Admission.Decision.Admit(Sequence sequence) -> admit(sequence);
    };
  }

  private List<Outcome> admit(Sequence sequence) {
    MeshException refusal = intake.submit(sequence);
    if (refusal != null) {
      return List.of(new Refused(sequence.id(), refusal));
    }
    live.put(sequence.id(), sequence);
    return List.of();
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

  /** Ends what has waited for too long: for its first token, its first Step, or for credit. */
  List<Outcome> expire() {
    List<Outcome> outcomes = new ArrayList<>();
    for (Sequence sequence : List.copyOf(live.values())) {
      if (sequence.pausedNanos(time.nanos()) > limits.stallMax().toNanos()) {
        outcomes.add(end(sequence, FinishReason.CANCELLED));
      } else if (!sequence.spec().moved() && late(sequence)) {
        MeshException missed = intake.missed(sequence);
        discard(sequence);
        outcomes.add(new Refused(sequence.id(), missed));
      }
    }
    return outcomes;
  }

  /** A deadline of its own ends also one that has begun; the replica's limit does not. */
  private boolean late(Sequence sequence) {
    long deadline = sequence.spec().deadline();
    return deadline > 0
        ? !sequence.emitted() && time.epochMillis() >= deadline
        : !sequence.begun() && intake.isLate(sequence);
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
    budget.clear();
    planDecodes(draft);
    prefills.plan(draft);
    speculation.plan(draft, running.size());
    if (draft.isEmpty()) {
      return Optional.empty();
    }
    steps++;
    inFlight = draft;
    plannedNanos = time.nanos();
    StepLoad load = budget.load();
    plannedLoad = load.plus(draft.tokens() - load.tokens(), 0, true);
    return Optional.of(draft.step());
  }

  private void planDecodes(StepDraft draft) {
    for (Sequence sequence : running.all()) {
      if (sequence.state() == State.RUNNING
          && sequence.runnable()
          && sequence.missing() == 1
          && grants.makeRoom(sequence)) {
        budget.add(1, sequence.computed(), true);
        draft.add(sequence, 1);
      }
    }
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
    noteTime(result.nanos());
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

  /** A Step lasts from the end of the one before, if it was planned by then. */
  private void noteTime(long deviceNanos) {
    long now = time.nanos();
    long whole = now - Math.max(plannedNanos, appliedNanos);
    appliedNanos = now;
    long took = Math.max(whole, deviceNanos);
    cost.learn(plannedLoad, took);
    prediction.note(plannedLoad, took);
    drain.note(plannedLoad.prefill(), took, waiting.size() > 0 || grants.crowded());
  }

  private void advance(
      Sequence sequence,
      StepDraft done,
      int part,
      List<SampledToken> tokens,
      List<Outcome> outcomes) {
    int[] guesses = done.guesses(part);
    kv.computed(sequence, done.slices().get(part).end() - guesses.length);
    int accepted = speculation.accepted(sequence, guesses, tokens);
    for (int i = 0; i < Math.min(accepted + 1, tokens.size()); i++) {
      sequence.share().served += TenantShares.OUTPUT_WEIGHT;
      StopRule.Verdict verdict;
      try {
        verdict = emitter.emit(sequence, tokens.get(i), outcomes);
      } catch (MeshException e) {
        discard(sequence);
        outcomes.add(new Refused(sequence.id(), e));
        return;
      }
      if (verdict.end() != null) {
        outputs.ended(sequence.spec().tenant(), sequence.output());
        kv.computed(sequence, sequence.computed() + i);
        kv.keep(sequence);
        discard(sequence);
        outcomes.add(new Ended(sequence.id(), verdict.end(), sequence.usage(), verdict.stop()));
        return;
      }
    }
    // The accepted guesses have their keys and values; those after them are overwritten.
    kv.computed(sequence, sequence.computed() + accepted);
  }

  private Ended end(Sequence sequence, FinishReason reason) {
    discard(sequence);
    return new Ended(sequence.id(), reason, sequence.usage(), new byte[0]);
  }

  private void discard(Sequence sequence) {
    live.remove(sequence.id());
    tenants.left(sequence.share());
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

  Constraints constraints() {
    return constraints;
  }

  int waiting() {
    return waiting.size();
  }

  int running() {
    return running.size();
  }

  /** What was computed for a tenant lately, output tokens counted twice. */
  long served(TenantId tenant) {
    return tenants.servedOnArrival(tenant);
  }

  boolean idle() {
    return live.isEmpty() && inFlight == null;
  }

  long waitingTokens() {
    return waiting.tokens();
  }

  int tenants() {
    return tenants.active();
  }

  /** Refused ones that were told when to come back, and are still expected. */
  int booked() {
    return intake.booked();
  }

  /** Prompt tokens a second that get done while others wait; 0 as long as it is not known. */
  double drainRate() {
    double rate = intake.drainRate();
    return Double.isFinite(rate) ? rate * 1e9 : 0;
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
    tenants.checkInvariants(live.values());
    if (live.size() != running.size() + waiting.size()) {
      throw new IllegalStateException("a Sequence is lost");
    }
  }
}
