package firstlight.gpu;

import firstlight.model.Hyperparameters;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import firstlight.protocol.SliceResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How fast a whole device is with random weights: tokens of Sequences that decode together, of a
 * prompt, and how long the first token takes while nothing else runs.
 *
 * @param graphs whether a Step is launched as one graph
 */
record ModelSpeed(CudaConfig.Weights weights, boolean graphs) {
  private static final long SEED = 9;
  private static final int WARM_STEPS = 8;
  private static final int FIRST_TOKENS = 5;
  private static final int BLOCK_TOKENS = 16;

  /** Of memory, what is not for Blocks once the weights and buffers are there. */
  private static final long RESERVE_BYTES = 1L << 30;

  static String name(CudaConfig.Weights weights) {
    return type(weights).suffix();
  }

  private static CudaWeightType type(CudaConfig.Weights weights) {
    return switch (weights) {
      case FILE -> CudaWeightType.Q8_0;
      case BF16 -> CudaWeightType.BF16;
      case FP8 -> CudaWeightType.FP8;
    };
  }

  void run(CheckBench bench) {
    CheckSizes.Sequences sizes = bench.sizes().sequences();
    int blocks = blocks(bench, sizes);
    GpuConfig config =
        DeviceCheck.config(
            new CudaConfig(weights, 0, graphs),
            blocks,
            Math.max(sizes.chunk(), sizes.batchMax()),
            Math.max(sizes.prompt(), positions(sizes)));
    long start = bench.nanos();
    try (CudaDevice device =
        CudaDevice.open(
            new LoadedModel.Opening(
                "random", new RandomWeights(bench.sizes().model(), SEED), config, bench.ordinal()),
            bench.image())) {
      device.fillMemory(SEED);
      note(bench, "open", null, (bench.nanos() - start) / 1e9);
      for (int batch : sizes.batches()) {
        decode(bench, device, batch);
      }
      prefill(bench, device);
      firstToken(bench, device);
    }
  }

  /** Those that decode are given so many positions. */
  private static int positions(CheckSizes.Sequences sizes) {
    return sizes.context() + WARM_STEPS + sizes.steps() + 1;
  }

  private static int table(int positions) {
    return (positions + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
  }

  private int blocks(CheckBench bench, CheckSizes.Sequences sizes) {
    Hyperparameters model = bench.sizes().model();
    int rows = Math.max(sizes.chunk(), sizes.batchMax());
    CudaShape shape = new CudaShape(rows, 1, 1, BLOCK_TOKENS, model.heads() / model.kvHeads());
    long embedding = model.vocabulary() * type(weights).rowBytes(model.embedding());
    long room =
        bench.gpu().free()
            - weightBytes(model)
            - embedding
            - CudaBuffers.bytes(model, shape, false);
    long fitting = (room - RESERVE_BYTES) / CudaShape.blockBytes(model, BLOCK_TOKENS);
    int wanted = Math.max(sizes.batchMax() * table(positions(sizes)), table(sizes.prompt()));
    int blocks = (int) Math.min(wanted, fitting);
    if (blocks < table(sizes.prompt())) {
      throw new UnsupportedOperationException("the model does not fit into the GPU's memory");
    }
    return blocks;
  }

  /** Of all weights that every Step reads: the embedding is only looked up. */
  private long weightBytes(Hyperparameters model) {
    CudaWeightType type = type(weights);
    int queries = model.heads() * model.headSize();
    int keys = model.kvHeads() * model.headSize();
    long wide = queries + 2L * keys + 2L * model.feedForward();
    long layer =
        wide * type.rowBytes(model.embedding())
            + model.embedding() * (type.rowBytes(queries) + type.rowBytes(model.feedForward()));
    return model.layers() * layer + model.vocabulary() * type.rowBytes(model.embedding());
  }

  private void decode(CheckBench bench, CudaDevice device, int batch) {
    CheckSizes.Sequences sizes = bench.sizes().sequences();
    int table = table(positions(sizes));
    if (batch * table > device.capacity().blocks()) {
      bench
          .report()
          .leaveOut("model", "%s, decode of %d does not fit".formatted(name(weights), batch));
      return;
    }
    List<int[]> tables = CheckSlices.tables(batch, table, SEED);
    int[] tokens = new int[batch];
    List<Double> seconds = new ArrayList<>();
    for (int step = 0; step < WARM_STEPS + sizes.steps(); step++) {
      List<Slice> slices = new ArrayList<>();
      for (int i = 0; i < batch; i++) {
        int[] next = {tokens[i]};
        slices.add(
            CheckSlices.of(i, next, sizes.context() + step, tables.get(i), 1, Sampling.GREEDY));
      }
      long start = bench.nanos();
      List<SliceResult> results = device.run(new RunStep(step + 1, slices)).slices();
      double took = (bench.nanos() - start) / 1e9;
      for (int i = 0; i < batch; i++) {
        SampledToken token = results.get(i).tokens().getFirst();
        tokens[i] = token.id();
      }
      if (step >= WARM_STEPS) {
        seconds.add(took);
      }
    }
    noteDecode(bench, batch, CheckBench.median(seconds));
  }

  private void noteDecode(CheckBench bench, int batch, double seconds) {
    Hyperparameters model = bench.sizes().model();
    int context = bench.sizes().sequences().context();
    long kv = batch * context * CudaShape.blockBytes(model, BLOCK_TOKENS) / BLOCK_TOKENS;
    long bytes = weightBytes(model) + kv;
    Double copy = bench.limit(CheckBench.COPY);
    Double most = copy == null ? null : (Double) (batch * copy * 1e9 / bytes);
    double rate = batch / seconds;
    Double share = most == null ? null : (Double) (rate / most);
    Map<String, Object> row =
        CheckReport.row(
            "weights", name(weights),
            "graphs", graphs,
            "what", "decode",
            "batch", batch,
            "context", context,
            "secondsPerStep", seconds,
            "tokensPerSecond", rate,
            "bytesPerStep", bytes,
            "limitTokensPerSecond", most,
            "limitIs", "bytes of weights, keys and values by the measured copy",
            "share", share);
    bench.report().add("model", row);
    bench
        .report()
        .say(
            "  decode, batch %d, context %d: %.3f ms a Step, %.1f tokens/s%s",
            batch, context, seconds * 1e3, rate, CheckReport.percent(share));
  }

  /** Seconds from the first chunk of a prompt to the token after its last. */
  private static double prompt(CheckBench bench, CudaDevice device, int length) {
    int chunk = bench.sizes().sequences().chunk();
    int[] table = CheckSlices.tables(1, table(length), SEED).getFirst();
    long start = bench.nanos();
    for (int fed = 0; fed < length; fed += chunk) {
      int[] tokens = new int[Math.min(chunk, length - fed)];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = (fed + i) * 97 % device.capacity().vocabulary();
      }
      int sampled = fed + tokens.length == length ? 1 : 0;
      device.run(
          new RunStep(1, List.of(CheckSlices.of(0, tokens, fed, table, sampled, Sampling.GREEDY))));
    }
    return (bench.nanos() - start) / 1e9;
  }

  private void prefill(CheckBench bench, CudaDevice device) {
    int length = bench.sizes().sequences().prompt();
    prompt(bench, device, length);
    double seconds = prompt(bench, device, length);
    Hyperparameters model = bench.sizes().model();
    CudaWeightType type = type(weights);
    double weightsOfAToken =
        (weightBytes(model) - model.vocabulary() * type.rowBytes(model.embedding()))
            / ((double) type.rowBytes(model.embedding()) / model.embedding());
    double attention = 2.0 * length * model.layers() * model.heads() * model.headSize();
    double work = length * (2 * weightsOfAToken + attention);
    Double most = bench.limit(CheckBench.PRODUCTS);
    double computed = work / seconds / 1e12;
    bench
        .report()
        .add(
            "model",
            CheckReport.row(
                "weights",
                name(weights),
                "graphs",
                graphs,
                "what",
                "prefill",
                "prompt",
                length,
                "chunk",
                bench.sizes().sequences().chunk(),
                "seconds",
                seconds,
                "tokensPerSecond",
                length / seconds,
                "TFLOPs",
                computed,
                "limitTFLOPs",
                most,
                "limitIs",
                "our fastest product",
                "share",
                most == null ? null : (Double) (computed / most)));
    bench
        .report()
        .say("  prefill of %d: %.1f tokens/s, %.2f TFLOP/s", length, length / seconds, computed);
  }

  private void firstToken(CheckBench bench, CudaDevice device) {
    int length = bench.sizes().sequences().firstPrompt();
    List<Double> seconds = new ArrayList<>();
    for (int i = 0; i < (bench.sizes().isSimulated() ? 1 : FIRST_TOKENS); i++) {
      seconds.add(prompt(bench, device, length));
    }
    double median = CheckBench.median(seconds);
    note(bench, "first token", length, median);
    bench.report().say("  first token after a prompt of %d: %.2f ms", length, median * 1e3);
  }

  private void note(CheckBench bench, String what, @Nullable Integer prompt, double seconds) {
    bench
        .report()
        .add(
            "model",
            CheckReport.row(
                "weights", name(weights),
                "graphs", graphs,
                "what", what,
                "prompt", prompt,
                "seconds", seconds));
  }
}
