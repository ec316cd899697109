package firstlight.gpu;

import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A whole device with random weights: the same bits with graphs and without, alone and among
 * others, whole prompts and cut ones. What the bits should be, the kernels' checks say.
 */
final class DeviceCheck {
  private static final int VOCABULARY = 512;
  private static final int PROMPT = 45;
  private static final int DECODED = 4;
  private static final int TABLE = 4;

  private DeviceCheck() {}

  static void run(CheckBench bench) {
    for (CudaConfig.Weights weights : CudaConfig.Weights.values()) {
      String what = ModelSpeed.name(weights);
      List<SampledToken> expected;
      try (CudaDevice device = open(bench, weights, false)) {
        expected = generate(device, PROMPT, 1);
        bench.require(
            "forward",
            what + ", a prompt in pieces, bits",
            isSame(generate(device, 7, 1), expected));
        bench.require(
            "forward", what + ", among others, bits", isSame(generate(device, 7, 5), expected));
      }
      try (CudaDevice device = open(bench, weights, true)) {
        bench.require(
            "forward",
            what + ", as graphs, bits",
            isSame(generate(device, PROMPT, 1), expected) && !expected.isEmpty());
      }
    }
  }

  private static CudaDevice open(CheckBench bench, CudaConfig.Weights weights, boolean graphs) {
    return CudaDevice.open(
        new LoadedModel.Opening(
            "random",
            new RandomWeights(CheckSizes.llama(2, 256, 512, 4, 2, VOCABULARY), 3),
            config(new CudaConfig(weights, 0, graphs), 64, 256, 1024),
            bench.ordinal()),
        bench.image());
  }

  /** What a device of the check is set up with. */
  static GpuConfig config(CudaConfig cuda, int kvBlocks, int stepTokensMax, int contextMax) {
    return new GpuConfig(
        GpuConfig.DeviceKind.CUDA,
        GpuConfig.Kernels.Q8,
        GpuConfig.Provider.JAVA,
        1,
        GpuConfig.KvType.F16,
        0,
        kvBlocks,
        16,
        stepTokensMax,
        contextMax,
        Duration.ofSeconds(60),
        Duration.ofSeconds(10),
        Duration.ZERO,
        cuda);
  }

  /** What the first of some equal Sequences says. */
  private static List<SampledToken> generate(CudaDevice device, int chunk, int sequences) {
    List<Integer> all =
        new ArrayList<>(
            IntStream.range(0, PROMPT).map(i -> (i * 97 + 13) % VOCABULARY).boxed().toList());
    List<SampledToken> tokens = new ArrayList<>();
    for (int fed = 0; tokens.size() < DECODED; ) {
      int end = fed < PROMPT ? Math.min(PROMPT, fed + chunk) : fed + 1;
      int[] next = all.subList(fed, end).stream().mapToInt(id -> id).toArray();
      List<Slice> slices = new ArrayList<>();
      for (int i = 0; i < sequences; i++) {
        int[] blocks = IntStream.range(i * TABLE, (i + 1) * TABLE).toArray();
        int sampled = end >= PROMPT ? 1 : 0;
        slices.add(CheckSlices.of(i, next, fed, blocks, sampled, Sampling.greedy(5)));
      }
      for (SampledToken token : device.run(new RunStep(1, slices)).slices().getFirst().tokens()) {
        tokens.add(token);
        all.add(token.id());
      }
      fed = end;
    }
    return tokens;
  }

  private static boolean isSame(List<SampledToken> actual, List<SampledToken> expected) {
    boolean same = actual.size() == expected.size();
    for (int i = 0; same && i < actual.size(); i++) {
      same =
          actual.get(i).id() == expected.get(i).id()
              && actual.get(i).logprob() == expected.get(i).logprob()
              && Arrays.equals(actual.get(i).topIds(), expected.get(i).topIds())
              && Arrays.equals(actual.get(i).topLogprobs(), expected.get(i).topLogprobs());
    }
    return same;
  }
}
