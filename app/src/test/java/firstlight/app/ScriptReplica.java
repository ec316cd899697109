package firstlight.app;

import firstlight.batcher.BatcherConfig;
import firstlight.edge.EdgeModel;
import firstlight.edge.EdgeModels;
import firstlight.gpu.GpuConfig;
import firstlight.model.Model;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.Numerics;
import firstlight.protocol.Settings;
import java.time.Duration;
import java.util.List;

/**
 * How a replica of a script is made.
 *
 * @param memory tokens its Blocks hold
 * @param block tokens of a Block
 * @param step tokens of a Step
 * @param running Sequences that run together
 * @param waiting Sequences that wait
 * @param chunk tokens of one prompt in a Step
 * @param reserve percent of an answer's expected tokens that are kept free for it
 * @param patience longest wait for a first Step
 * @param stepLimit longest time of a Step
 */
record ScriptReplica(
    String name,
    int memory,
    int block,
    int step,
    int running,
    int waiting,
    int chunk,
    int reserve,
    Duration patience,
    Duration stepLimit) {
  static final String MODEL = "glass";
  private static final int CONTEXT_MAX = 4096;

  /** What an edge knows of the model. */
  static EdgeModels edgeModels(Model model) {
    return new EdgeModels(
        List.of(
            new EdgeModel(
                MODEL,
                model.tokenizer(),
                model.template(),
                model.hyperparameters().contextLength(),
                "0".repeat(64),
                1_700_000_000)));
  }

  /** From the words after {@code replica}. */
  static ScriptReplica of(Words words) {
    return new ScriptReplica(
        words.take(),
        words.option("memory", 8192),
        words.option("block", 16),
        words.option("step", 64),
        words.option("running", 32),
        words.option("waiting", 64),
        words.option("chunk", 48),
        words.option("reserve", 100),
        Words.span(words.option("patience", "30s")),
        Words.span(words.option("steplimit", "60s")));
  }

  DeviceCapacity capacity(ScriptMode mode, int vocabulary) {
    int blockTokens = mode.blockTokens(block);
    return new DeviceCapacity(
        MODEL,
        memory / blockTokens,
        blockTokens,
        mode.stepTokens(step),
        CONTEXT_MAX,
        vocabulary,
        new Numerics("glass", "hash", 0, "0".repeat(64)));
  }

  BatcherConfig batcher(ScriptMode mode) {
    Settings settings =
        settings(
            """
            runningMax: %d
            waitingMax: %d
            promptChunkMax: %d
            reservedOutput: %s
            firstTokenMax: %dms
            prefixCache: %b
            reportEvery: 50ms
            claimEvery: 200ms
            """
                .formatted(
                    running,
                    waiting,
                    mode.chunk(chunk),
                    reserve / 100.0,
                    patience.toMillis(),
                    mode.prefixCache()));
    BatcherConfig config = BatcherConfig.from(settings);
    settings.problems().throwIfAny();
    return config;
  }

  GpuConfig gpu() {
    Settings settings =
        settings("{warmUp: 0ms, stepTimeLimit: %dms}".formatted(stepLimit.toMillis()));
    GpuConfig config = GpuConfig.read(settings);
    settings.problems().throwIfAny();
    return config;
  }

  static Settings settings(String yaml) {
    return Settings.parse(yaml, _ -> null);
  }
}
