package firstlight.batcher;

import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.RunStep;
import firstlight.protocol.StepResult;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * How long a device waits between two Steps: prints the median and the 99th percentile of each part
 * of the loop, with 64 Sequences running and 64 waiting; and how many tokens eight equal prompts of
 * 800 tokens cost.
 */
final class TurnaroundMain {
  private static final int RUNNING = 64;
  private static final int STEPS = 3_000;

  private TurnaroundMain() {}

  public static void main(String[] args) {
    SchedulerLimits all = GlassReplica.LIMITS;
    for (int round = 0; round < 3; round++) {
      turnaround(
          new SchedulerLimits(
              RUNNING,
              128,
              96,
              512,
              1 << 20,
              all.firstTokenMax(),
              all.stallMax(),
              true,
              all.retention(),
              8,
              all.shares()));
    }
    GlassReplica replica = new GlassReplica(all, GlassDevice.of(600, 16, 64));
    for (int i = 0; i < 8; i++) {
      replica.submit(Specs.of("g" + i, "a", Specs.prompt(1, 800), 4));
    }
    replica.run();
    System.out.printf(
        "eight equal prompts of 800 tokens, 4 tokens each: %d tokens in Steps%n",
        replica.steps().stream().mapToInt(RunStep::tokens).sum());
  }

  private static void turnaround(SchedulerLimits limits) {
    GlassDevice device = GlassDevice.of(64 * 80, 16, 128, 200_000);
    Scheduler scheduler =
        new Scheduler(
            new SchedulerParts(
                limits,
                device.capacity(),
                Specs::bytes,
                firstlight.protocol.Time.system(),
                new Counts(),
                42,
                BlockHash::mixed));
    int submitted = 0;
    long[][] nanos = new long[4][STEPS];
    for (int step = 0; step < STEPS; step++) {
      while (scheduler.waiting() < RUNNING) {
        scheduler.submit(spec(submitted++), 1_000);
      }
      long start = System.nanoTime();
      scheduler.expire();
      long expired = System.nanoTime();
      Optional<RunStep> planned = scheduler.plan();
      long plannedAt = System.nanoTime();
      StepResult result = device.run(planned.orElseThrow());
      long ran = System.nanoTime();
      List<Outcome> outcomes = scheduler.apply(result);
      long applied = System.nanoTime();
      Frames frames = new Frames(step, 192 << 10);
      outcomes.forEach(frames::add);
      frames.build().forEach(frame -> frame.toByteArray());
      nanos[0][step] = expired - start;
      nanos[1][step] = plannedAt - expired;
      nanos[2][step] = applied - ran;
      nanos[3][step] = System.nanoTime() - applied;
    }
    print(List.of("expire", "plan", "apply", "pack frames"), nanos, scheduler);
  }

  private static GenerationSpec spec(int number) {
    int[] prompt = Specs.prompt(number, 200 + number % 7 * 50);
    prompt[0] = number % 2 == 0 ? GlassDevice.ECHO : prompt[0];
    return Specs.of("g" + number, "t" + number % 5, prompt, 600);
  }

  private static void print(List<String> parts, long[][] nanos, Scheduler scheduler) {
    System.out.printf("%d running, %d waiting;", scheduler.running(), scheduler.waiting());
    for (int i = 0; i < parts.size(); i++) {
      long[] sorted = Arrays.copyOfRange(nanos[i], STEPS / 3, STEPS);
      Arrays.sort(sorted);
      System.out.printf(
          " %s p50 %d us p99 %d us;",
          parts.get(i),
          sorted[sorted.length / 2] / 1_000,
          sorted[sorted.length * 99 / 100] / 1_000);
    }
    System.out.println();
  }
}
