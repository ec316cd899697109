package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.batcher.LoadSimulation.Call;
import firstlight.batcher.LoadSimulation.Kind;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.RunStep;
import java.time.Duration;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Goal: whatever is offered, who is let in is served in time, and who is not is told the truth. */
class OverloadTest {
  private static final Duration MINUTE = Duration.ofSeconds(60);
  private static final Duration WARM = Duration.ofSeconds(10);

  /** All that was told has come true by then. */
  private static final Duration LATER = Duration.ofSeconds(900);

  private static final double LIMIT_MILLIS = 1_500;

  private static LoadSimulation replica(int runningMax, double limitMillis, long seed) {
    return replica(runningMax, limitMillis, LoadSimulation.twoCores(seed), seed);
  }

  private static LoadSimulation replica(
      int runningMax, double limitMillis, ToLongFunction<RunStep> device, long seed) {
    SharePolicy shares = new SharePolicy(Duration.ofMillis(100), 1024, 0.5, 1, 1, 64);
    SchedulerLimits limits =
        new SchedulerLimits(
            runningMax,
            256,
            192,
            2_000,
            1 << 22,
            Duration.ofMillis((long) limitMillis),
            Duration.ofSeconds(60),
            true,
            GlassReplica.RETENTION,
            0,
            shares);
    return new LoadSimulation(limits, GlassDevice.of(1_024, 16, 512), device, seed);
  }

  /** Output tokens a second when there is always more to do than can be done. */
  private static double capacity(int runningMax, Kind kind) {
    return capacity(replica(runningMax, 1e9, 1), kind);
  }

  private static double capacity(LoadSimulation full, Kind kind) {
    full.open(kind, 100, Duration.ZERO, Duration.ofSeconds(10)).run(MINUTE);
    return full.goodput(1e12, WARM, MINUTE);
  }

  private static LoadSimulation overload(int runningMax, Kind kind, double callsPerSecond) {
    LoadSimulation simulation = replica(runningMax, LIMIT_MILLIS, 7);
    simulation.open(kind, callsPerSecond, Duration.ZERO, MINUTE).run(LATER);
    long returned = simulation.count(call -> call.attempt > 0);
    System.out.printf(
        "%s at %.1f/s: %.0f tokens/s, first token p50 %.0f p99 %.0f ms, let in %d,"
            + " refused at once %d, too late %d, came back %d, of these let in %.3f%n",
        kind,
        callsPerSecond,
        simulation.goodput(LIMIT_MILLIS, WARM, MINUTE),
        simulation.firstToken(0.5, _ -> true),
        simulation.firstToken(0.99, _ -> true),
        simulation.count(Call::admitted),
        simulation.count(Call::refusedAtOnce),
        simulation.count(call -> !call.admitted() && !call.refusedAtOnce()),
        returned,
        simulation.count(call -> call.attempt > 0 && call.admitted()) / (double) returned);
    return simulation;
  }

  /**
   * Prompts decide what can be served, or Blocks, or the Sequences that may run; and clients come
   * back when they were told to, or never.
   */
  @ParameterizedTest
  @CsvSource({
    "64, 50, 350, 32, 96, true, 0.9",
    "64, 50, 350, 32, 96, false, 0",
    "64, 50, 350, 2, 6, true, 0.9",
    "16, 10, 50, 100, 300, true, 0.8",
    "16, 10, 50, 100, 300, false, 0"
  })
  void who_is_let_in_is_served_in_time_and_who_comes_back_as_told_is_let_in(
      int runningMax,
      int promptMin,
      int promptMax,
      int outputMin,
      int outputMax,
      boolean retries,
      double letIn) {
    Kind kind = new Kind("a", promptMin, promptMax, outputMin, outputMax, retries);
    double calls = capacity(runningMax, kind) / ((outputMin + outputMax) / 2.0);
    double atCapacity = 0;
    for (int load : List.of(1, 2, 5, 10)) {
      LoadSimulation simulation = overload(runningMax, kind, load * calls);
      double goodput = simulation.goodput(LIMIT_MILLIS, WARM, MINUTE);
      atCapacity = load == 1 ? goodput : atCapacity;
      assertThat(goodput).as("goodput at %d", load).isGreaterThan(0.9 * atCapacity);
      assertThat(simulation.firstToken(0.99, _ -> true)).isLessThan(LIMIT_MILLIS);
      long late = simulation.count(call -> !call.admitted() && !call.refusedAtOnce());
      assertThat(late).isLessThanOrEqualTo(simulation.count(Call::admitted) / 20);
      long returned = simulation.count(call -> call.attempt > 0);
      long welcome = simulation.count(call -> call.attempt > 0 && call.admitted());
      assertThat((double) welcome)
          .as("let in at %d", load)
          .isGreaterThanOrEqualTo(letIn * returned);
    }
  }

  /**
   * The other tenant asks for a part of the capacity; after a minute the flood comes, with twenty
   * times its half, from a tenant that is new or was there before.
   */
  @ParameterizedTest
  @CsvSource({
    "0.1, 3, false, 1500, false",
    "0.25, 3, false, 1500, false",
    "0.25, 4, false, 1500, false",
    "0.25, 4, true, 1500, false",
    "0.1, 3, false, 5000, true",
    "0.25, 4, true, 5000, true"
  })
  void a_tenant_that_floods_makes_anothers_wait_at_most_half_as_long_again(
      double part, long seed, boolean wasThere, double limitMillis, boolean dearSteps) {
    LongFunction<ToLongFunction<RunStep>> device =
        dearSteps ? LoadSimulation::sharedCores : LoadSimulation::twoCores;
    Duration end = Duration.ofSeconds(240);
    Kind flood = new Kind("flood", 50, 350, 32, 96, true);
    Kind quiet = new Kind("quiet", 50, 350, 32, 96, true);
    double capacity = capacity(replica(64, 1e9, device.apply(1), 1), flood);
    LoadSimulation alone = replica(64, limitMillis, device.apply(seed), seed);
    alone.open(quiet, part * capacity / 64, Duration.ZERO, end).run(LATER);
    Predicate<Call> later = alone.of(quiet, MINUTE);
    LoadSimulation both = replica(64, limitMillis, device.apply(seed), seed);
    both.open(quiet, part * capacity / 64, Duration.ZERO, end);
    if (wasThere) {
      both.call(flood, Duration.ZERO);
    }
    both.open(flood, 20 * capacity / 64 / 2, MINUTE, end).run(LATER);
    double before = alone.firstToken(0.99, later);
    double after = both.firstToken(0.99, later);
    long refused = both.count(later.and(call -> !call.admitted()));
    double tokens = both.goodput(1e12, MINUTE.plus(WARM), end);
    System.out.printf(
        "quiet tenant at %.2f: first token p50 %.0f p99 %.0f ms alone; p50 %.0f p99 %.0f ms beside"
            + " a flood, refused %d of %d; together %.0f tokens/s of %.0f%n",
        part,
        alone.firstToken(0.5, later),
        before,
        both.firstToken(0.5, later),
        after,
        refused,
        both.count(later),
        tokens,
        capacity);
    assertThat(after).isLessThan(1.5 * before);
    assertThat(refused).isZero();
    assertThat(tokens).isGreaterThan(0.9 * capacity);
  }

  @Test
  void a_long_prompt_hardly_delays_the_tokens_of_others() {
    Duration arrives = Duration.ofSeconds(4);
    Duration until = Duration.ofSeconds(10);
    Kind stream = new Kind("a", 20, 60, 600, 600, false);
    Kind book = new Kind("b", 4_000, 4_000, 16, 16, false);
    LoadSimulation simulation = replica(64, 30_000, 5);
    for (int i = 0; i < 16; i++) {
      simulation.call(stream, Duration.ofMillis(i));
    }
    simulation.call(book, arrives).run(Duration.ofSeconds(40));
    double before =
        simulation.interToken(0.99, call -> call.kind == stream, Duration.ofSeconds(1), arrives);
    double beside = simulation.interToken(0.99, call -> call.kind == stream, arrives, until);
    double first = simulation.firstToken(0.99, call -> call.kind == book);
    System.out.printf(
        "16 streams: token p99 %.1f ms, beside a prompt of 4,000 %.1f ms; its first token after"
            + " %.0f ms%n",
        before, beside, first);
    assertThat(beside).isLessThan(2 * before);
    assertThat(first).isLessThan(12_000);
  }
}
