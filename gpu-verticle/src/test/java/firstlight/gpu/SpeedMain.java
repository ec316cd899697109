package firstlight.gpu;

import firstlight.model.ModelFile;
import firstlight.model.TestModels;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import firstlight.protocol.Time;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Prints tokens per second of the default kernels: decoding one and sixteen Sequences, and a prompt
 * of 512 tokens. Not a test, since it measures the machine too; run by hand with the arguments
 * {@code threads}, {@code rounds} and a part of a model's name, and {@code -Dprovider=NATIVE}.
 */
final class SpeedMain {
  private static final int PROMPT = 512;
  private static final int DECODED = 64;
  private static final int MANY = 16;
  private static final int BLOCK_TOKENS = 16;

  private final CpuDevice device;
  private final int threads;
  private final Time time = Time.system();

  private SpeedMain(CpuDevice device, int threads) {
    this.device = device;
    this.threads = threads;
  }

  public static void main(String[] arguments) {
    int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 2;
    int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
    String only = arguments.length > 2 ? arguments[2] : "";
    measure("smollm2", TestModels.smollm2(), threads, rounds, only);
    measure("gemma3", TestModels.gemma3(), threads, rounds, only);
  }

  private static void measure(String name, Path path, int threads, int rounds, String only) {
    if (!name.contains(only)) {
      return;
    }
    GpuConfig.Provider provider =
        GpuConfig.Provider.valueOf(System.getProperty("provider", "JAVA"));
    GpuConfig config =
        TestDevices.provided(
            TestDevices.config(GpuConfig.Kernels.Q8, threads, BLOCK_TOKENS), provider);
    try (ModelFile file = ModelFile.open(path);
        CpuDevice device = CpuDevice.open(name, file, TestDevices.larger(config, PROMPT))) {
      SpeedMain speed = new SpeedMain(device, threads);
      for (int round = 0; round < rounds; round++) {
        System.out.printf(
            Locale.ROOT,
            "%s, %d threads, round %d, tokens/s: prefill %d: %.0f; decode of 1: %.0f; of %d:"
                + " %.0f%n",
            name,
            threads,
            round,
            PROMPT,
            speed.prefill(),
            speed.decode(1),
            MANY,
            speed.decode(MANY));
      }
    }
  }

  /** One thread is timed by what it used, which other load on the machine disturbs less. */
  private long now() {
    return threads == 1
        ? ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()
        : time.nanos();
  }

  private double prefill() {
    int[] tokens = IntStream.range(0, PROMPT).map(i -> (i * 977 + 13) % 40_000).toArray();
    long start = now();
    Steps.run(device, Steps.slice("speed", tokens, 0, Steps.blocks(0, PROMPT / BLOCK_TOKENS), 1));
    return PROMPT * 1e9 / (now() - start);
  }

  private double decode(int sequences) {
    long start = now();
    for (int position = 0; position < DECODED; position++) {
      List<Slice> slices = new ArrayList<>();
      for (int i = 0; i < sequences; i++) {
        int[] token = {(i * 977 + position * 31 + 5) % 40_000};
        int[] blocks = Steps.blocks(i * DECODED / BLOCK_TOKENS, DECODED / BLOCK_TOKENS);
        slices.add(Steps.with(Sampling.GREEDY, Steps.slice("s" + i, token, position, blocks, 1)));
      }
      device.run(new RunStep(position + 1, slices));
    }
    return DECODED * sequences * 1e9 / (now() - start);
  }
}
