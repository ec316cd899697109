package firstlight.batcher;

import firstlight.batcher.Outcome.Emitted;
import firstlight.batcher.Outcome.Ended;
import firstlight.batcher.Outcome.Refused;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.RunStep;
import firstlight.protocol.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Clients against a real scheduler, in simulated time: calls arrive when they arrive, whatever the
 * replica does (open loop), Steps take what a device would take for them, and a client that is
 * refused may come back at exactly the time it was told. Everything follows from the seed.
 */
final class LoadSimulation {
  final SimulatedTime time = new SimulatedTime();
  final Counts counts = new Counts();
  final Scheduler scheduler;
  private final long begin = time.nanos();
  private final GlassDevice device;
  private final ToLongFunction<RunStep> price;
  private final Random random;
  private final PriorityQueue<Arrival> arrivals =
      new PriorityQueue<>(Comparator.comparingLong(Arrival::nanos));
  private final Map<GenerationId, Call> calls = new HashMap<>();
  private final List<Call> all = new ArrayList<>();
  private int ids;
  private long checked;

  /**
   * Who calls how.
   *
   * @param retries a refused client comes back when it was told to
   */
  record Kind(
      String tenant, int promptMin, int promptMax, int outputMin, int outputMax, boolean retries) {}

  private record Arrival(long nanos, Kind kind, int[] prompt, int output, int attempt) {}

  /** What became of one call. */
  static final class Call {
    final Kind kind;
    final int attempt;
    final long arrived;
    final List<Long> tokens = new ArrayList<>();
    Optional<Refused> refused = Optional.empty();
    long ended;

    Call(Kind kind, int attempt, long arrived) {
      this.kind = kind;
      this.attempt = attempt;
      this.arrived = arrived;
    }

    boolean admitted() {
      return refused.isEmpty();
    }

    /** Refused at once, and not after a wait. */
    boolean refusedAtOnce() {
      return refused.isPresent() && ended == arrived;
    }

    double firstTokenMillis() {
      return tokens.isEmpty() ? Double.POSITIVE_INFINITY : (tokens.getFirst() - arrived) / 1e6;
    }
  }

  /**
   * @param price how long the device takes for a Step, in nanoseconds
   */
  LoadSimulation(
      SchedulerLimits limits, GlassDevice device, ToLongFunction<RunStep> price, long seed) {
    this.device = device;
    this.price = price;
    this.random = new Random(seed);
    this.scheduler =
        new Scheduler(
            new SchedulerParts(
                limits, device.capacity(), Specs::bytes, time, counts, 42, BlockHash::mixed));
  }

  /**
   * A device of two cores: some 1,500 prompt tokens a second, and 60 Sequences that decode at ten
   * tokens a second; a tenth of chance in every Step.
   */
  static ToLongFunction<RunStep> twoCores(long seed) {
    return device(seed, 4_000, 0, 600);
  }

  /**
   * As two cores were measured below a whole server: a Step costs a lot whatever is in it, most
   * when there are prompts.
   */
  static ToLongFunction<RunStep> sharedCores(long seed) {
    return device(seed, 7_000, 12_000, 1_000);
  }

  /** Microseconds of a Step, of one with prompts besides, and of a token of a prompt. */
  private static ToLongFunction<RunStep> device(
      long seed, double ofStep, double ofPrompts, double ofToken) {
    Random random = new Random(seed);
    return step -> {
      double micros = ofStep;
      for (var slice : step.slices()) {
        boolean decodes = slice.tokens().length == 1;
        micros += decodes ? 1_000 : ofToken * slice.tokens().length;
        micros += 0.1 * slice.tokens().length * slice.end();
      }
      boolean prompts = step.slices().stream().anyMatch(slice -> slice.tokens().length > 1);
      micros += prompts ? ofPrompts : 0;
      return (long) (1_000 * micros * (0.95 + 0.1 * random.nextDouble()));
    };
  }

  /** Calls of a kind come by chance, so many a second on average. */
  LoadSimulation open(Kind kind, double perSecond, Duration from, Duration until) {
    double at = from.toNanos();
    while (true) {
      at -= Math.log(1 - random.nextDouble()) / perSecond * 1e9;
      if (at >= until.toNanos()) {
        return this;
      }
      call(kind, Duration.ofNanos((long) at));
    }
  }

  LoadSimulation call(Kind kind, Duration at) {
    int length = random.nextInt(kind.promptMin, kind.promptMax + 1);
    int output = random.nextInt(kind.outputMin, kind.outputMax + 1);
    int[] prompt = Specs.prompt(random.nextInt(1 << 20), length);
    arrivals.add(new Arrival(begin + at.toNanos(), kind, prompt, output, 0));
    return this;
  }

  /** Goes on until that time, or until nothing is left to do. */
  LoadSimulation run(Duration until) {
    long end = begin + until.toNanos();
    while (time.nanos() < end) {
      note(scheduler.expire());
      Optional<RunStep> step = scheduler.plan();
      if (step.isPresent()) {
        arrive(time.nanos() + price.applyAsLong(step.get()));
        note(scheduler.apply(device.run(step.get())));
      } else if (arrivals.isEmpty()) {
        return this;
      } else {
        arrive(arrivals.peek().nanos);
      }
      if (checked++ % 64 == 0) {
        scheduler.checkInvariants();
      }
    }
    return this;
  }

  /** Time goes on, and calls come meanwhile. */
  private void arrive(long until) {
    while (!arrivals.isEmpty() && arrivals.peek().nanos <= until) {
      Arrival next = arrivals.remove();
      advance(next.nanos);
      submit(next);
    }
    advance(until);
  }

  private void advance(long until) {
    time.advance(Duration.ofNanos(Math.max(0, until - time.nanos())));
  }

  private void submit(Arrival arrival) {
    GenerationSpec spec =
        Specs.of("g" + ids++, arrival.kind.tenant, arrival.prompt, arrival.output);
    Call call = new Call(arrival.kind, arrival.attempt, time.nanos());
    calls.put(spec.id(), call);
    all.add(call);
    note(scheduler.submit(spec, Integer.MAX_VALUE));
    if (call.refused.isPresent() && arrival.kind.retries) {
      long wait = call.refused.get().failure().retryAfterMillis();
      arrivals.add(
          new Arrival(
              time.nanos() + wait * 1_000_000,
              arrival.kind,
              arrival.prompt,
              arrival.output,
              arrival.attempt + 1));
    }
  }

  private void note(List<Outcome> outcomes) {
    for (Outcome outcome : outcomes) {
      Call call = calls.get(outcome.generation());
      switch (outcome) {
        case Emitted emitted -> emitted.tokens().forEach(_ -> call.tokens.add(time.nanos()));
        case Ended _ -> call.ended = time.nanos();
        case Refused refused -> {
          call.refused = Optional.of(refused);
          call.ended = time.nanos();
        }
      }
    }
  }

  List<Call> calls(Predicate<Call> which) {
    return all.stream().filter(which).toList();
  }

  /** Calls of a kind that arrived after so long. */
  Predicate<Call> of(Kind kind, Duration since) {
    return call -> call.kind == kind && call.arrived >= begin + since.toNanos();
  }

  long count(Predicate<Call> which) {
    return all.stream().filter(which).count();
  }

  /** Milliseconds to the first token, of the calls that got one. */
  double firstToken(double quantile, Predicate<Call> which) {
    return quantile(
        quantile,
        all.stream().filter(which).filter(Call::admitted).map(Call::firstTokenMillis).toList());
  }

  /** Milliseconds between tokens of one call, both between these times. */
  double interToken(double quantile, Predicate<Call> which, Duration from, Duration until) {
    List<Double> gaps = new ArrayList<>();
    for (Call call : calls(which)) {
      for (int i = 1; i < call.tokens.size(); i++) {
        if (call.tokens.get(i - 1) >= begin + from.toNanos()
            && call.tokens.get(i) <= begin + until.toNanos()) {
          gaps.add((call.tokens.get(i) - call.tokens.get(i - 1)) / 1e6);
        }
      }
    }
    return quantile(quantile, gaps);
  }

  /** Tokens a second of calls whose first token was in time, output that came between the times. */
  double goodput(double firstTokenMillisMax, Duration from, Duration until) {
    long tokens = 0;
    for (Call call : calls(call -> call.firstTokenMillis() <= firstTokenMillisMax)) {
      tokens +=
          call.tokens.stream()
              .filter(at -> at > begin + from.toNanos() && at <= begin + until.toNanos())
              .count();
    }
    return tokens * 1e9 / until.minus(from).toNanos();
  }

  private static double quantile(double quantile, List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    return sorted.get((int) Math.min(sorted.size() - 1L, (long) (quantile * sorted.size())));
  }
}
