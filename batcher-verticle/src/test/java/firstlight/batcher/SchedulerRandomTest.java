package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.Priority;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Goal: whatever the load, every generation gives what it gives alone. Method: workloads made from
 * a seed (arrivals, lengths, shared prompts, tiny memory, cancellation, credit, stop strings, known
 * tokens, priorities, tenants, deadlines, what counts as a long prompt, what is reserved, sizes of
 * Blocks, Steps and chunks) run on the glass device, whose tokens tell of every wrong position, and
 * are compared with {@link Expected}; invariants are checked after every call.
 */
class SchedulerRandomTest {
  private static final List<String> GRAMMARS =
      List.of(
          "root ::= [0-6]*",
          "root ::= ([0-2]{3} | \"4\" root \"3\")+",
          "root ::= \"1\" [0-6]{0,40} \"44\"");

  private static final int WORKLOADS = 1_000;

  @Test
  void every_generation_gives_what_it_gives_alone_whatever_the_load() {
    Long only = Long.getLong("seed");
    long first = only == null ? 1 : only;
    long last = only == null ? WORKLOADS : only;
    long steps = only == null ? Long.getLong("steps", 0) : 0;
    Totals totals = new Totals();
    for (long seed = first; seed <= last || totals.steps < steps; seed++) {
      try {
        new Workload(seed, totals).run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "repeat with: mvn -pl batcher-verticle -am test -Dtest=SchedulerRandomTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dseed="
                + seed,
            e);
      }
    }
    if (only == null) {
      System.out.println(totals);
      // A workload that never does these things proves nothing about them.
      assertThat(totals.preemptions).isGreaterThan(300);
      assertThat(totals.accepted).isGreaterThan(1_000);
      assertThat(totals.drafted - totals.accepted).isGreaterThan(500);
      assertThat(totals.hits).isGreaterThan(1_000);
      assertThat(totals.stopped).isGreaterThan(200);
      assertThat(totals.cancelled).isGreaterThan(200);
      assertThat(totals.refused).isGreaterThan(70);
      assertThat(totals.tenantFull).isGreaterThan(20);
      assertThat(totals.longs).isGreaterThan(500);
      assertThat(totals.late).isGreaterThan(100);
    }
  }

  private static final class Totals {
    long steps;
    long longs;
    long late;
    long tenantFull;
    long preemptions;
    long hits;
    long drafted;
    long accepted;
    long stopped;
    long cancelled;
    long refused;

    @Override
    public String toString() {
      return "%d Steps, %d preemptions, %d hits, %d of %d guesses right, %d cancelled, %d refused"
          .formatted(steps, preemptions, hits, accepted, drafted, cancelled, refused);
    }
  }

  private static final class Workload {
    private final Random random;
    private final Totals totals;
    private final GlassReplica replica;
    private final int room;
    private int longFrom;
    private final Map<GenerationId, GenerationSpec> specs = new HashMap<>();
    private final List<GenerationId> live = new ArrayList<>();

    Workload(long seed, Totals totals) {
      this.random = new Random(seed);
      this.totals = totals;
      int blockTokens = 1 << random.nextInt(4);
      int blocks = 3 + random.nextInt(40);
      int stepTokens = 1 + random.nextInt(random.nextBoolean() ? 4 : 64);
      this.room = blocks * blockTokens;
      SchedulerLimits limits =
          new SchedulerLimits(
              1 + random.nextInt(12),
              stepTokens,
              1 + random.nextInt(32),
              4 + random.nextInt(30),
              200 + random.nextInt(2000),
              Duration.ofMillis(random.nextBoolean() ? 20_000 : 1 + random.nextInt(2_000)),
              Duration.ofSeconds(5 + random.nextInt(40)),
              random.nextInt(4) > 0,
              new Retention(Duration.ofMillis(1 + random.nextInt(20_000)), random.nextDouble()),
              random.nextInt(2) * random.nextInt(10),
              shares());
      BlockHash hash = random.nextInt(5) == 0 ? (_, _, _, _) -> 7 : BlockHash::mixed;
      this.replica =
          new GlassReplica(
              limits, GlassDevice.of(blocks, blockTokens, 64, random.nextInt(2) * 50_000), hash);
    }

    private SharePolicy shares() {
      longFrom = 5 + random.nextInt(150);
      return new SharePolicy(
          Duration.ofMillis(1 + random.nextInt(100)),
          longFrom,
          0.05 + 0.9 * random.nextDouble(),
          random.nextBoolean() ? 1 : 0.1 + 0.9 * random.nextDouble(),
          random.nextInt(3) == 0 ? random.nextDouble() : 0,
          1 + random.nextInt(3));
    }

    void run() {
      int arrivals = 5 + random.nextInt(25);
      while (arrivals > 0) {
        if (random.nextInt(3) == 0) {
          arrivals--;
          submit("g" + arrivals);
        }
        disturb();
        Optional<RunStep> step = replica.plan();
        if (step.isPresent()) {
          step.get().slices().forEach(this::checkHistory);
          if (random.nextInt(4) == 0) {
            disturb();
            replica.time.advance(Duration.ofMillis(random.nextInt(100)));
          }
          replica.apply(step.get());
        }
        replica.time.advance(Duration.ofMillis(random.nextInt(300)));
      }
      finish();
    }

    private void finish() {
      live.forEach(id -> replica.scheduler.hold(id, false));
      live.forEach(id -> replica.credit(id.value(), Integer.MAX_VALUE));
      replica.run();
      specs.values().forEach(this::check);
      assertThat(replica.scheduler.idle()).isTrue();
      assertThat(replica.scheduler.kvUsage()).isZero();
      totals.steps += replica.steps().size();
      totals.preemptions += replica.counts.preemptions;
      totals.drafted += replica.counts.draftTokens;
      totals.accepted += replica.counts.acceptedTokens;
      totals.hits += replica.counts.prefixHits;
    }

    private void submit(String name) {
      int[] prompt = Specs.prompt(random.nextInt(3), 1 + random.nextInt(Math.min(120, room + 2)));
      if (random.nextBoolean()) {
        prompt[random.nextInt(prompt.length)] = random.nextInt(100);
      }
      if (random.nextInt(3) > 0) {
        prompt[0] = GlassDevice.ECHO;
      }
      int outputMax = 1 + random.nextInt(random.nextBoolean() ? 5 : 60);
      String tenant = random.nextInt(3) == 0 ? "t" + random.nextInt(6) : "a";
      Priority priority = Priority.values()[random.nextInt(3)];
      GenerationSpec spec =
          Specs.urgent(decorate(Specs.of(name, tenant, prompt, outputMax)), priority);
      totals.longs += prompt.length > longFrom ? 1 : 0;
      specs.put(spec.id(), spec);
      live.add(spec.id());
      replica.submit(spec, random.nextInt(3) == 0 ? random.nextInt(4) : 1_000);
    }

    private GenerationSpec decorate(GenerationSpec plain) {
      Sampling sampling =
          random.nextInt(3) == 0
              ? Sampling.GREEDY
              : new Sampling(
                  random.nextInt(2),
                  0,
                  1,
                  0,
                  random.nextInt(1, 3),
                  0,
                  0,
                  new int[0],
                  new float[0],
                  random.nextInt(5),
                  random.nextInt(-1, 3));
      GenerationSpec spec = Specs.sampled(plain, sampling);
      if (random.nextInt(4) == 0) {
        spec = Specs.constrained(spec, GRAMMARS.get(random.nextInt(GRAMMARS.size())));
      }
      List<Integer> output = Specs.alone(spec);
      if (random.nextInt(3) == 0) {
        spec = Specs.stopping(spec, stops(output), endTokens(spec, output));
        // Where tokens end a constrained text, they may not come before.
        output = Specs.alone(spec);
      }
      if (random.nextInt(4) == 0) {
        int known = random.nextInt(output.size());
        spec =
            random.nextBoolean()
                ? Specs.moved(spec, output, known)
                : Specs.known(
                    spec, output.stream().limit(known).mapToInt(Integer::intValue).toArray());
      }
      spec =
          random.nextInt(6) == 0
              ? Specs.until(spec, replica.time.epochMillis() + random.nextInt(3_000))
              : spec;
      return random.nextInt(3) == 0 ? Specs.continued(spec) : spec;
    }

    /** Strings that do come up in the answer, and some that only begin like it. */
    private List<byte[]> stops(List<Integer> output) {
      StringBuilder text = new StringBuilder();
      output.forEach(token -> text.append(Expected.latin(Specs.bytes(token))));
      List<byte[]> stops = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        int from = random.nextInt(text.length());
        int to = from + 1 + random.nextInt(Math.min(12, text.length() - from));
        String tail = random.nextBoolean() ? "" : "#";
        stops.add((text.substring(from, to) + tail).getBytes());
      }
      return stops;
    }

    /** A constraint may be able to go on with one of the output's tokens only. */
    private int[] endTokens(GenerationSpec spec, List<Integer> output) {
      return random.nextInt(4) == 0 && !spec.isConstrained()
          ? new int[] {3, output.get(random.nextInt(output.size()))}
          : new int[] {3};
    }

    private void disturb() {
      if (live.isEmpty()) {
        return;
      }
      String id = live.get(random.nextInt(live.size())).value();
      switch (random.nextInt(12)) {
        case 0 -> replica.cancel(id);
        case 1, 2, 3 -> replica.credit(id, random.nextInt(8));
        case 4 -> replica.scheduler.hold(new GenerationId(id), true);
        case 5, 6 -> replica.scheduler.hold(new GenerationId(id), false);
        default -> live.forEach(each -> replica.credit(each.value(), random.nextInt(2)));
      }
    }

    private void checkHistory(Slice slice) {
      GenerationSpec spec = specs.get(slice.generation());
      assertThat(slice.promptLength()).isEqualTo(spec.prompt().length);
      if (slice.sampled() == 0 || !spec.sampling().hasPenalties()) {
        assertThat(slice.history()).isEmpty();
        return;
      }
      int[] all = Arrays.copyOf(spec.prompt(), spec.prompt().length + spec.outputMax());
      List<Integer> output = Specs.alone(spec);
      for (int i = 0; i < output.size(); i++) {
        all[spec.prompt().length + i] = output.get(i);
      }
      assertThat(slice.history()).isEqualTo(Arrays.copyOf(all, slice.start()));
      int certain = slice.end() - slice.sampled() + 1;
      assertThat(Arrays.copyOf(slice.tokens(), certain - slice.start()))
          .isEqualTo(Arrays.copyOfRange(all, slice.start(), certain));
    }

    private void check(GenerationSpec spec) {
      GlassReplica.Told told = replica.told(spec.id().value());
      assertThat(told.last).as("ends of " + spec.id()).hasSize(1);
      switch (told.last.getFirst()) {
        case Outcome.Refused refused -> {
          totals.refused++;
          assertThat(told.tokens).isEmpty();
          assertThat(refused.failure().kind())
              .isIn(FailureKind.OVERLOADED, FailureKind.TENANT_LIMIT, FailureKind.INVALID_REQUEST);
          totals.tenantFull += refused.failure().kind() == FailureKind.TENANT_LIMIT ? 1 : 0;
          totals.late += refused.failure().kind() == FailureKind.OVERLOADED ? 1 : 0;
        }
        case Outcome.Ended ended -> {
          totals.stopped += ended.reason() == FinishReason.STOP ? 1 : 0;
          totals.cancelled += ended.reason() == FinishReason.CANCELLED ? 1 : 0;
          replica.assertRight(spec, Math.min(spec.outputMax(), room - spec.prompt().length));
        }
        case Outcome.Emitted _ -> throw new AssertionError("not an end");
      }
    }
  }
}
