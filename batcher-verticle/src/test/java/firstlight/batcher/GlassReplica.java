package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.batcher.Outcome.Emitted;
import firstlight.batcher.Outcome.Ended;
import firstlight.batcher.Outcome.Refused;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.Slice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A scheduler with a glass device, and all that it ever told. Invariants are checked always. */
final class GlassReplica {
  /** One tenant may fill the queue, and memory is given out at once: so it does run out. */
  static final SharePolicy SHARES = new SharePolicy(Duration.ofMillis(100), 1024, 0.5, 1, 0, 1024);

  static final Retention RETENTION = new Retention(Duration.ofSeconds(60), 0.5);
  static final SchedulerLimits LIMITS =
      new SchedulerLimits(
          16,
          64,
          64,
          100,
          100_000,
          Duration.ofSeconds(30),
          Duration.ofSeconds(10),
          true,
          RETENTION,
          8,
          SHARES);

  final SimulatedTime time = new SimulatedTime();
  final Counts counts = new Counts();
  final Scheduler scheduler;
  private final GlassDevice device;
  private final Map<GenerationId, Told> told = new LinkedHashMap<>();
  private final List<String> order = new ArrayList<>();
  private final List<RunStep> steps = new ArrayList<>();

  /** What was told of one generation. */
  static final class Told {
    final List<SampledToken> tokens = new ArrayList<>();
    final StringBuilder text = new StringBuilder();
    final List<Emitted> emissions = new ArrayList<>();
    final List<Outcome> last = new ArrayList<>();
    long credit;

    List<Integer> ids() {
      return tokens.stream().map(SampledToken::id).toList();
    }

    Ended ended() {
      assertThat(last).hasSize(1).hasOnlyElementsOfType(Ended.class);
      return (Ended) last.getFirst();
    }

    Refused refused() {
      assertThat(last).hasSize(1).hasOnlyElementsOfType(Refused.class);
      return (Refused) last.getFirst();
    }
  }

  GlassReplica(SchedulerLimits limits, GlassDevice device) {
    this(limits, device, BlockHash::mixed);
  }

  GlassReplica(SchedulerLimits limits, GlassDevice device, BlockHash hash) {
    this.device = device;
    DeviceCapacity capacity = device.capacity();
    this.scheduler =
        new Scheduler(new SchedulerParts(limits, capacity, Specs::bytes, time, counts, 42, hash));
  }

  /** Enough for anything. */
  static GlassReplica roomy() {
    return new GlassReplica(LIMITS, GlassDevice.of(256, 4, 64));
  }

  GlassReplica submit(GenerationSpec spec) {
    return submit(spec, Integer.MAX_VALUE);
  }

  GlassReplica submit(GenerationSpec spec, int credit) {
    told.computeIfAbsent(spec.id(), _ -> new Told()).credit += credit;
    note(scheduler.submit(spec, credit));
    scheduler.checkInvariants();
    return this;
  }

  void cancel(String generation) {
    note(scheduler.cancel(new GenerationId(generation)));
    scheduler.checkInvariants();
  }

  void credit(String generation, int tokens) {
    told(generation).credit += tokens;
    scheduler.credit(new GenerationId(generation), tokens);
  }

  /** One turn of the loop; empty when there was nothing to do. */
  Optional<RunStep> step() {
    Optional<RunStep> step = plan();
    step.ifPresent(this::apply);
    return step;
  }

  Optional<RunStep> plan() {
    note(scheduler.expire());
    Optional<RunStep> step = scheduler.plan();
    step.ifPresent(steps::add);
    scheduler.checkInvariants();
    return step;
  }

  void apply(RunStep step) {
    note(scheduler.apply(device.run(step)));
    scheduler.checkInvariants();
  }

  /** Goes on until there is nothing to do. */
  GlassReplica run() {
    int left = 100_000;
    while (step().isPresent()) {
      assertThat(left--).as("Steps without an end").isPositive();
    }
    return this;
  }

  void fail(firstlight.protocol.MeshException failure) {
    note(scheduler.failAll(failure));
  }

  private void note(List<Outcome> outcomes) {
    for (Outcome outcome : outcomes) {
      Told of = told.computeIfAbsent(outcome.generation(), _ -> new Told());
      assertThat(of.last).as("nothing comes after the end of " + outcome.generation()).isEmpty();
      if (outcome instanceof Emitted emitted) {
        assertThat(emitted.first()).isEqualTo(of.tokens.isEmpty());
        of.tokens.addAll(emitted.tokens());
        of.text.append(Expected.latin(emitted.text()));
        of.emissions.add(emitted);
        assertThat((long) of.tokens.size()).as("tokens of a credit").isLessThanOrEqualTo(of.credit);
      } else {
        of.last.add(outcome);
        order.add(outcome.generation().value());
      }
    }
  }

  Told told(String generation) {
    return told.get(new GenerationId(generation));
  }

  /** Names of those that have ended or were refused, in that order. */
  List<String> order() {
    return order;
  }

  List<RunStep> steps() {
    return steps;
  }

  /** The Slice of a generation in the last Step. */
  Optional<Slice> slice(String generation) {
    return steps.getLast().slices().stream()
        .filter(slice -> slice.generation().value().equals(generation))
        .findFirst();
  }

  /** Checks all that was told of a generation that ran to its end. */
  void assertRight(GenerationSpec spec) {
    assertRight(spec, spec.outputMax());
  }

  void assertRight(GenerationSpec spec, int outputMax) {
    Told of = told.get(spec.id());
    Ended ended = of.ended();
    Expected expected = Expected.of(spec, outputMax);
    // Known tokens may already be all there can be.
    int known = Math.min(spec.known().length, expected.tokens().size());
    List<Integer> fresh = expected.tokens().subList(known, expected.tokens().size());
    String text = fresh.isEmpty() ? "" : expected.text().substring(expected.knownText().length());
    if (ended.reason() == FinishReason.CANCELLED) {
      assertThat(fresh.subList(0, of.tokens.size())).isEqualTo(of.ids());
      assertThat(text).startsWith(of.text.toString());
    } else {
      assertThat(of.ids()).isEqualTo(fresh);
      assertThat(of.text.toString()).isEqualTo(text);
      assertThat(ended.reason()).isEqualTo(expected.reason());
      assertThat(Expected.latin(ended.stop())).isEqualTo(expected.stop());
    }
    int blockTokens = device.capacity().blockTokens();
    assertThat(ended.usage().prompt()).isEqualTo(spec.prompt().length);
    assertThat(ended.usage().output()).isEqualTo(known + of.tokens.size());
    assertThat(ended.usage().cached() % blockTokens).isZero();
    assertThat(ended.usage().cached()).isLessThan(spec.prompt().length);
    int position = known;
    for (Emitted emitted : of.emissions) {
      assertThat(emitted.position()).isEqualTo(position);
      position += emitted.tokens().size();
    }
  }
}
