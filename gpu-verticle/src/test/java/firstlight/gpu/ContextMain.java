package firstlight.gpu;

import firstlight.model.ModelFile;
import firstlight.model.TestModels;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Prints what a token costs at several lengths of the context: milliseconds of wall time and of all
 * threads' processor time, medians of some rounds. Not a test, since it measures the machine too;
 * run by hand with the arguments {@code model}, {@code threads} and {@code rounds}.
 */
final class ContextMain {
  private static final int[] CONTEXTS = {128, 1_024, 4_096};
  private static final int CHUNK = 512;
  private static final int BLOCK_TOKENS = 16;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final CpuDevice device;
  private final int[] blocks = Steps.blocks(0, 8_192 / BLOCK_TOKENS);

  private ContextMain(CpuDevice device) {
    this.device = device;
  }

  public static void main(String[] arguments) {
    String name = arguments[0];
    int rounds = Integer.parseInt(arguments[2]);
    GpuConfig config =
        new GpuConfig(
            GpuConfig.DeviceKind.CPU,
            GpuConfig.Kernels.Q8,
            GpuConfig.Provider.valueOf(System.getProperty("provider", "JAVA")),
            Integer.parseInt(arguments[1]),
            GpuConfig.KvType.valueOf(System.getProperty("kv", "F16")),
            0,
            8_192 / BLOCK_TOKENS,
            BLOCK_TOKENS,
            CHUNK,
            8_192,
            Duration.ofSeconds(60),
            Duration.ofSeconds(10),
            Duration.ZERO,
            GpuConfig.defaults().cuda());
    try (ModelFile file =
            ModelFile.open(name.equals("gemma3") ? TestModels.gemma3() : TestModels.smollm2());
        CpuDevice device = CpuDevice.open(name, file, config)) {
      new ContextMain(device).run(rounds);
    }
  }

  private void run(int rounds) {
    int fed = 0;
    for (int context : CONTEXTS) {
      while (fed < context) {
        int count = Math.min(CHUNK, context - fed);
        double[] cost = cost(fed, count);
        if (fed / CHUNK % 4 == 0 || fed + count == context) {
          print("prefill", fed, count, cost);
        }
        fed += count;
      }
      double[][] costs = new double[rounds][];
      for (int round = 0; round < rounds; round++) {
        costs[round] = cost(context, 1);
      }
      double[] medians = {
        Arrays.stream(costs).mapToDouble(c -> c[0]).sorted().toArray()[rounds / 2],
        Arrays.stream(costs).mapToDouble(c -> c[1]).sorted().toArray()[rounds / 2]
      };
      print("decode", context, 1, medians);
    }
  }

  private static void print(String what, int position, int count, double[] cost) {
    System.out.printf(
        Locale.ROOT,
        "%s at %d: %.2f ms, %.2f ms of processor (%.0f tokens/s)%n",
        what,
        position,
        cost[0],
        cost[1],
        count * 1e3 / cost[0]);
  }

  private double[] cost(int start, int count) {
    int[] tokens = IntStream.range(0, count).map(i -> (i * 977 + start + 13) % 40_000).toArray();
    Slice slice = Steps.with(Sampling.GREEDY, Steps.slice("context", tokens, start, blocks, 1));
    double processor = processor();
    long wall = System.nanoTime();
    device.run(new RunStep(1, List.of(slice)));
    return new double[] {(System.nanoTime() - wall) / 1e6, processor() - processor};
  }

  private double processor() {
    long nanos = 0;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("firstlight-cpu") || thread == Thread.currentThread()) {
        nanos += threads.getThreadCpuTime(thread.threadId());
      }
    }
    return nanos / 1e6;
  }
}
